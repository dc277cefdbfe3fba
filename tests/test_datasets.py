"""Data sets: read from R once, then from files; the split checked by its hash; the simulations."""

import os

import numpy as np
import pytest
from without_r import run_without_r

from pyearthdof import datasets
from pyearthdof.datasets import (
    DataNotAvailableError,
    fetch_spam_split,
    load_ozone,
    load_spam,
    make_correlated,
    make_hinges,
    make_sparse,
)
from pyearthdof.exceptions import InvalidInputError


def test_ozone_and_spam_are_whole():
    ozone, spam = load_ozone(), load_spam()
    assert ozone.shape == (330, 10) and ozone["O3"].sum() == 3886
    assert spam.shape == (4601, 58) and (spam["type"] == "spam").sum() == 1813
    assert not spam.isna().any().any()


def test_later_loads_need_no_r(tmp_path, monkeypatch):
    monkeypatch.setenv("PYEARTHDOF_CACHE", str(tmp_path))
    first = {"ozone": load_ozone(), "spam": load_spam()}
    assert len(list(tmp_path.iterdir())) == 2
    again = {"ozone": load_ozone(), "spam": load_spam()}
    for name in first:
        assert first[name].equals(again[name]), f"{name} differs between R and the kept file"
    text = run_without_r(
        "from pyearthdof.datasets import load_ozone, load_spam; print(load_ozone().shape, load_spam().shape)"
    )
    assert text.strip() == "(330, 10) (4601, 58)"


def test_without_cache_and_r_the_error_says_what_to_do(tmp_path):
    code = f"""
import os
os.environ["PYEARTHDOF_CACHE"] = {str(tmp_path)!r}
from pyearthdof.datasets import load_ozone
from pyearthdof.exceptions import RNotAvailableError
try:
    load_ozone()
except RNotAvailableError as error:
    print(error)
"""
    assert "apt-get install" in run_without_r(code)


def test_the_split_of_a_local_folder():
    folder = os.environ.get("PYEARTHDOF_DATA")
    if not folder:
        pytest.skip("PYEARTHDOF_DATA does not name a folder with spam.traintest")
    test = fetch_spam_split()
    assert test.dtype == bool and test.sum() == 1536 and (~test).sum() == 3065
    assert np.array_equal(test, fetch_spam_split(folder))
    assert np.array_equal(test, fetch_spam_split(os.path.join(folder, "spam.traintest")))


def test_another_file_of_that_name_is_refused(tmp_path):
    with pytest.raises(DataNotAvailableError, match=r"no file 'spam.traintest'"):
        fetch_spam_split(tmp_path)
    (tmp_path / "spam.traintest").write_text("1\n0\n")
    with pytest.raises(DataNotAvailableError, match=r"not the book's file.*sha256"):
        fetch_spam_split(tmp_path)


def test_offline_the_error_says_so(tmp_path, monkeypatch):
    monkeypatch.delenv("PYEARTHDOF_DATA", raising=False)
    monkeypatch.setenv("PYEARTHDOF_CACHE", str(tmp_path))

    def no_network(*args, **kwargs):
        raise ConnectionError("no route to host")

    monkeypatch.setattr(datasets.pooch, "retrieve", no_network)
    with pytest.raises(
        DataNotAvailableError, match=r"no connection: ConnectionError.*offline.*PYEARTHDOF_DATA"
    ):
        fetch_spam_split()


def test_a_download_with_a_wrong_hash_is_refused(tmp_path, monkeypatch):
    monkeypatch.delenv("PYEARTHDOF_DATA", raising=False)
    monkeypatch.setenv("PYEARTHDOF_CACHE", str(tmp_path))

    def wrong_file(url, output_file, pooch, **options):
        with open(output_file, "w") as stream:
            stream.write("<html>moved</html>")

    monkeypatch.setattr(datasets.pooch, "HTTPDownloader", lambda **options: wrong_file)
    with pytest.raises(DataNotAvailableError, match="another sha256"):
        fetch_spam_split()
    assert not (tmp_path / "spam.traintest").exists()


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
        (lambda: make_sparse(p=2), "p=2 but it should be 3 or more"),
        (lambda: make_hinges(p=1), "p=1 but it should be 2 or more"),
        (lambda: make_hinges(n=1), "n=1 but it should be 2 or more"),
    ],
)
def test_impossible_sizes_are_refused(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()
