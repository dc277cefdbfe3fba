"""Data sets: R's own values, without R, without a network; the simulations."""

import hashlib
from importlib import resources

import numpy as np
import pytest

from pyearthdof.datasets import (
    load_airquality,
    load_ozone,
    load_spam,
    load_spam_split,
    make_correlated,
    make_hinges,
    make_sparse,
)
from pyearthdof.exceptions import InvalidInputError
from tests.support.rscript import needs_rscript, run_r
from tests.support.without_r import run_without_r


def test_ozone_and_spam_are_whole():
    ozone, spam = load_ozone(), load_spam()
    assert ozone.shape == (330, 10) and ozone["O3"].sum() == 3886
    assert spam.shape == (4601, 58) and (spam["type"] == "spam").sum() == 1813
    assert not spam.isna().any().any()


@needs_rscript
@pytest.mark.parametrize(
    ("load", "name", "package"),
    [
        (load_ozone, "ozone1", "earth"),
        (load_spam, "spam", "kernlab"),
        (load_airquality, "airquality", "datasets"),
    ],
)
def test_they_are_rs_to_the_bit(load, name, package):
    theirs = run_r(
        f"""
        utils::data({name}, package = "{package}", envir = environment())
        text <- vapply({name}, is.factor, NA)
        out <- list(names = names({name}), numbers = as.matrix({name}[!text]))
        if (any(text)) out$text <- as.character({name}[[which(text)]])
        """
    )
    table = load()
    assert list(table.columns) == theirs["names"]
    numbers = table.select_dtypes("number")
    assert (numbers.dtypes == np.float64).all()
    # Missing values are nan of other bits in R.
    assert np.array_equal(numbers.isna(), np.isnan(theirs["numbers"]))
    assert np.nan_to_num(numbers).tobytes("F") == np.nan_to_num(theirs["numbers"]).tobytes("F")
    rest = table.drop(columns=numbers.columns)
    assert [list(rest[column]) for column in rest] == [theirs[k] for k in ("text",) if k in theirs]


def test_the_split_is_the_books():
    test = load_spam_split()
    assert test.dtype == bool and test.sum() == 1536 and (~test).sum() == 3065
    shipped = resources.files("pyearthdof").joinpath("data", "spam.traintest").read_bytes()
    assert hashlib.sha256(shipped).hexdigest() == (
        "ba6718589db52bc72324e3edb5dc458c547675088aa114a81afa84d972d35ba5"
    )


def test_no_r_no_network_and_no_folder_of_ones_own_is_needed(tmp_path):
    code = """
import os, socket, sys
def refused(*args, **options):
    raise AssertionError("somebody asked for the network")
socket.socket.connect = socket.getaddrinfo = socket.create_connection = refused
from pyearthdof.datasets import load_ozone, load_spam, load_spam_split
print(load_ozone().shape, load_spam().shape, load_spam_split().sum())
assert not [name for name in sys.modules if name.split(".")[0] in ("rpy2", "pooch", "requests")]
assert not os.listdir(os.environ["HOME"])
"""
    assert run_without_r(code, HOME=str(tmp_path)) == "(330, 10) (4601, 58) 1536\n"


def test_a_table_may_be_changed_and_the_next_one_is_whole():
    ozone = load_ozone()
    ozone["O3"] = 0.0
    assert load_ozone()["O3"].sum() == 3886


def test_the_sources_and_licences_are_shipped():
    text = resources.files("pyearthdof").joinpath("data", "README.md").read_text(encoding="utf-8")
    for word in (
        "ozone1.csv",
        "spam.csv.gz",
        "spam.traintest",
        "penalties.csv",
        "CC BY 4.0",
        "GPL-3",
    ):
        assert word in text


@pytest.mark.parametrize("make", [make_sparse, make_hinges, make_correlated])
def test_simulations_follow_their_random_state(make):
    one, two, other = make(random_state=3), make(random_state=3), make(random_state=4)
    assert np.array_equal(one.X, two.X) and np.array_equal(one.y, two.y)
    assert not np.array_equal(one.y, other.y)
    assert not np.array_equal(make().y, make().y)
    legacy = make(random_state=np.random.RandomState(5))
    assert np.array_equal(legacy.y, make(random_state=np.random.RandomState(5)).y)
    rng = np.random.default_rng(0)
    assert not np.array_equal(make(random_state=rng).y, make(random_state=rng).y)


def test_the_sparse_simulation_is_the_papers():
    X, y, mean = make_sparse(n=20_000, p=5, random_state=0)
    assert y.std() == pytest.approx(1.0)
    assert mean == pytest.approx(X[:, :3].sum(axis=1))
    assert mean.var() / (y - mean).var() == pytest.approx(3.0, rel=0.05)


def test_the_hinges_are_the_papers():
    X, y, mean = make_hinges(n=20_000, p=3, random_state=0)
    inside = (X[:, 0] > 1) & (X[:, 1] > 0.8)
    expected = (X[inside, 0] - 1) * (1 + X[inside, 1] - 0.8)
    assert mean[inside] == pytest.approx(expected)
    assert (mean[X[:, 0] <= 1] == 0).all()
    assert (y - mean).std() == pytest.approx(0.12, rel=0.03)


def test_the_correlated_simulation_is_the_papers():
    X, y, mean = make_correlated(n=40_000, random_state=0)
    correlation = np.corrcoef(X.T)
    assert correlation[0, 3] == pytest.approx(0.75, abs=0.02)
    assert correlation[4, 9] == pytest.approx(0.9, abs=0.02)
    assert correlation[3, 4] == pytest.approx(0.0, abs=0.02)
    assert (y - mean).std() == pytest.approx(1.0, rel=0.02)
    assert mean == pytest.approx(X @ [1, 2, 3, 4, 5, 0, 0, 0, 0, 0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_sparse(p=2), "p=2 but it should be an integer of 3 or more"),
        (lambda: make_hinges(p=1), "p=1 but it should be an integer of 2 or more"),
        (lambda: make_hinges(n=1), "n=1 but it should be an integer of 2 or more"),
    ],
)
def test_impossible_sizes_are_refused(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()
