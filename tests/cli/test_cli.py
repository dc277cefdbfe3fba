"""The command line: what it prints, what it refuses, its exit codes."""

import json
import os
import sys

import numpy as np
import pandas as pd
import pytest

from pyearthdof import AutoEarth, Earth, MarsModel
from pyearthdof.cli import main, terminal
from pyearthdof.cli.df import PROCEDURES
from pyearthdof.datasets import load_ozone, make_hinges
from pyearthdof.exceptions import RWarning
from pyearthdof.experiments import t_ozone


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command in this process; return its exit code and what it printed."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["pyearthdof", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capsys.readouterr()
        return stop.value.code or 0, out, err

    return run


@pytest.fixture
def table(tmp_path):
    data = make_hinges(n=80, p=3, random_state=0)
    file = tmp_path / "data.csv"
    pd.DataFrame(data.X, columns=["a", "b", "c"]).assign(y=data.y).to_csv(file, index=False)
    return file


def test_help_shows_examples(run):
    for command in ("fit", "correct", "df", "reproduce", "report"):
        code, out, _ = run(command, "--help")
        assert code == 0 and "Example" in out, command
    code, out, _ = run("--help")
    assert code == 0 and "Exit codes" in out


def test_fit_save_predict(run, table, tmp_path):
    model = tmp_path / "model.json"
    code, out, _ = run("fit", table, "--target", "y", "--save", model)
    assert code == 0 and "h(a-" in out and f"Model written to {model}" in out
    code, out, _ = run("predict", model, table)
    frame = pd.read_csv(table)
    expected = MarsModel.load(model).predict(frame[["a", "b", "c"]].to_numpy())
    header, *lines = out.splitlines()
    assert code == 0 and header == "y" and [float(v) for v in lines] == expected.tolist()
    code, out, _ = run("predict", model, table, "--json")
    assert json.loads(out) == expected.tolist()


def test_fit_corrected_is_the_papers_correction(run):
    code, out, _ = run("fit", "ozone", "--target", "O3", "--corrected", "--json")
    penalty = json.loads(out)["penalty"]
    code, out, _ = run("correct", "ozone", "--target", "O3", "--json")
    assert code == 0 and json.loads(out)["penalty"] == penalty
    code, out, _ = run("correct", "--n", 330, "--p", 9, "--json")
    assert json.loads(out)["penalty"] == penalty


def test_fit_auto_chooses_by_degrees_of_freedom(run):
    auto = ("fit", "ozone", "--target", "O3", "--auto", "--engine", "native")
    ozone = load_ozone()
    X, y = ozone.drop(columns="O3"), ozone["O3"]
    code, out, _ = run(*auto)
    model = AutoEarth(Earth(engine="native")).fit(X, y)
    assert code == 0 and out.strip().endswith(str(model.summary()).splitlines()[-1])
    code, out, _ = run(*auto, "--models", 1, "--degree", 2)
    one = AutoEarth(Earth(engine="native"), n_models=1, degrees=(2,)).fit(X, y)
    assert code == 0 and f"Selected {one.n_terms_} of" in out
    assert f"Measured df {one.df_:.4g}" in out
    code, _, err = run("fit", "ozone", "--target", "O3", "--models", 5)
    assert code != 0 and "--models is given but it should be with --auto" in err


def test_correct_gives_the_authors_number(run):
    code, out, _ = run("correct", "--n", 264, "--p", 9, "--degree", 1)
    assert code == 0 and "2 -> 2.99357 ± 0.096 (95 %: 2.8" in out
    assert "Errors cover: the draws of y, for one drawn design" in out


def test_until_an_error_is_reached(run, table, monkeypatch):
    monkeypatch.setattr(
        terminal._Stream, "isatty", lambda _: True
    )  # where the progress bar is shown
    size = ("--n", 40, "--p", 3)
    for command in (("correct", *size), ("df", "tree", "--depth", 1, *size)):
        code, out, err = run(*command, "--target-se", 0.4)
        assert code == 0 and "wanted 0.4" in err
        found = json.loads(run(*command, "--target-se", 0.4, "--json")[1])
        assert found["se"] <= 0.4 and f"{found['n_rep']} fits" in out
        most = json.loads(run(*command, "--target-se", 0.01, "--n-rep", 40, "--json", "-q")[1])
        assert most["n_rep"] == 40
    code, out, err = run("fit", table, "--target", "y", "--corrected", "--target-se", 0.2)
    found = json.loads(run("correct", table, "--target", "y", "--target-se", 0.2, "--json")[1])
    assert code == 0 and "wanted 0.2" in err
    assert f"standard error of {found['se']:.2g} after {found['n_rep']} fits" in out


def test_designs_can_be_drawn_anew(run):
    for command in (("correct",), ("df", "tree", "--depth", 1)):
        command = (*command, "--n", 40, "--p", 3, "--n-rep", 20)
        code, out, _ = run(*command, "--designs", 5)
        assert code == 0 and "Errors cover: the draws of y and of the design" in out
        assert " ± " in out and " (95 %: " in out
        found = json.loads(run(*command, "--designs", 5, "--json")[1])
        assert found["n_designs"] == 5 and "intervals" in found
        code, _, err = run(*command, "--designs", 11)
        assert code == 2 and "n_designs=11 but it should be at most 10 for n_rep=20" in err


def test_correct_on_the_tables_own_predictors(run, table):
    options = ("--target", "y", "--n-rep", 10, "--json")
    gaussian = json.loads(run("correct", table, *options)[1])
    own = json.loads(run("correct", table, *options, "--design", "data")[1])
    assert gaussian["settings"]["design"] == [80, 3] and own["settings"]["design"] == "given"
    assert gaussian["penalty"] != own["penalty"]


NEEDS_MDA = pytest.mark.needs_r("mda")
OPTIONS = {
    "ridge": ("--lam", 10), "nearest-neighbors": ("--k", 5), "cubic-spline": ("--n-basis", 6),
    "smoothing-spline": ("--lam", 0.01), "monotone-cubic-spline": ("--n-basis", 6),
    "monotone-smoothing-spline": ("--lam", 0.01), "best-subset": ("--size", 2), "lasso": ("--lam", 20),
    "relaxed-lasso": ("--lam", 20), "iterative-ridge": ("--lam", 20), "tree": ("--depth", 1),
    "mars": ("--degree", 1, "--nk", 5, "--no-prune"), "mda-mars": ("--nk", 5, "--no-prune"),
}  # fmt: skip


@pytest.mark.parametrize(
    "procedure",
    [pytest.param(p, marks=NEEDS_MDA) if p == "mda-mars" else p for p in PROCEDURES],
)
def test_df_knows_every_procedure(run, procedure):
    options = OPTIONS.get(procedure, ())
    size = () if PROCEDURES[procedure].univariate else ("--p", 4)
    command = ("df", procedure, "--n", 40, *size, "--n-rep", 10, *options)
    code, out, err = run(*command, "--json")
    assert code == 0, err
    found = json.loads(out)
    assert np.isfinite(found["df"]) and found["df"] > 0
    code, out, _ = run(*command)
    assert code == 0 and "msdf" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("df", "forest"), "procedure='forest' but it should be one of least-squares"),
        (("df", "ridge"), "--lam is not given but it should be for ridge"),
        (
            ("df", "ridge", "--lam", 1, "--k", 3),
            "--k is given but ridge should have its own options only: --lam",
        ),
        (("df", "cubic-spline", "--n-basis", 5, "--p", 3), "one predictor, but --p is 3"),
        (("df", "ridge", "--lam", -1), "lam"),
        (("correct",), "no table is given but there should be one with --target"),
        (("correct", "--n", 10), "--n and --p"),
        (("correct", "ozone"), "--target is not given"),
        (("correct", "ozone", "--target", "O3", "--n", 5), "own size"),
        (("fit", "missing.csv", "--target", "y"), "there is no file 'missing.csv'"),
        (("fit", "ozone", "--target", "ozone"), "target='ozone' but it should be one of O3, "),
        (("fit", "ozone", "--target", "O3", "--penalty", 2, "--corrected"), "only one of them"),
        (("fit", "ozone", "--target", "O3", "--target-se", 1), "should be with --corrected"),
        (("fit", "ozone", "--target", "O3", "--auto", "--corrected"), "only one of them"),
        (("fit", "ozone", "--target", "O3", "--auto", "--target-se", 1), "be with --corrected"),
        (("fit", "ozone", "--target", "O3", "--n-rep", 50), "should be with --corrected"),
        (("correct", "--n", 9, "--p", 2, "--quick", "--target-se", 1), "not be given with --quick"),
        (
            ("correct", "--n", 9, "--p", 2, "--target-se", 0),
            "target_se=0.0 but it should be a finite",
        ),
        (
            ("df", "tree", "--depth", 1, "--data", "ozone", "--target", "O3", "--target-se", 1),
            "--target-se=1 but it should not be given with --data",
        ),
        (("fit", "ozone", "--target", "O3", "--save", "/no/such/m.json"), "folder does not exist"),
        (("reproduce", "T9"), "experiment='T9' but it should be one of T1"),
        (("report", "--out", "/no/such/folder"), "no results in '/no/such/folder'"),
    ],
)
def test_a_bad_argument_is_one_sentence(run, arguments, message):
    code, out, err = run(*arguments)
    assert code == 2 and message in err and out == ""
    assert err.startswith("pyearthdof: ") and len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("y,a,b\n1,2,3\n2,,4\n3,4,5\n", "column 'a', row 1"),
        ("y,a,b\n1,2,red\n2,3,red\n3,4,red\n", "column 'b'"),
        ("y,a,b\n1,2,3\n,3,4\n3,4,5\n", "target 'y' has missing values"),
        ("y,a,b\n", "has no rows"),
        ("", "not a readable CSV file"),
        ("y\n1\n2\n", "no column beside the target"),
        ("y,a\n1,2\n", "minimum of 2 is required"),
        ("y,a\n1,2\n2,inf\n3,4\n", "infinity"),
    ],
)
def test_a_bad_table_is_one_sentence(run, tmp_path, content, message):
    file = tmp_path / "bad.csv"
    file.write_text(content)
    for command in ("fit", "correct"):
        code, out, err = run(command, file, "--target", "y")
        if command == "correct" and "minimum" in message:
            continue  # Algorithm 2 asks for its own least number of rows
        assert code == 2 and message in err and out == "", command
        assert len(err.splitlines()) == 1


def test_correct_quickly(run):
    code, out, _ = run("correct", "--n", 264, "--p", 9, "--quick")
    assert code == 0 and out.startswith("penalty    2 -> 3.0") and "interpolation" in out
    code, out, _ = run("correct", "--n", 264, "--p", 9, "--quick", "--json")
    assert json.loads(out)["penalty"] == pytest.approx(3.0, abs=0.1)
    code, _, err = run("correct", "--n", 9, "--p", 9, "--quick")
    assert code == 2 and "correct_penalty" in err


FLOWERS = "y,z,size,kind\n" + "".join(
    f"{k * 1.5},{-k},{k},{'red' if k % 2 else 'blue'}\n" for k in range(1, 21)
)


def test_text_is_a_factor_and_several_targets_are_one_model(run, tmp_path):
    data, saved = tmp_path / "flowers.csv", tmp_path / "model.json"
    data.write_text(FLOWERS)
    code, _, _ = run("fit", data, "--target", "y", "--target", "z", "--save", saved)
    assert code == 0
    code, out, _ = run("predict", saved, data)
    header, *lines = out.splitlines()
    rows = [[float(v) for v in line.split(",")] for line in lines]
    assert code == 0 and header == "y,z" and len(rows) == 20
    assert rows[3] == pytest.approx([6.0, -4.0])
    unseen = tmp_path / "unseen.csv"
    unseen.write_text("size,kind\n1,green\n")
    code, _, err = run("predict", saved, unseen)
    assert code == 2 and "'kind'" in err and "'green'" in err


@pytest.mark.needs_r
def test_family_and_rds(run, tmp_path):
    data, saved, rds = tmp_path / "d.csv", tmp_path / "model.json", tmp_path / "model.rds"
    data.write_text(FLOWERS)
    arguments = ("--target", "y", "--family", "poisson", "--save", saved, "--rds", rds)
    with pytest.warns(RWarning):  # y is no count
        code, out, _ = run("fit", data, *arguments)
    assert code == 0 and "family poisson, link log" in out
    assert Earth.from_r(rds).terms_ == MarsModel.load(saved).selected_names
    links, means = (
        run("predict", saved, data, "--type", t, "--json")[1] for t in ("link", "response")
    )
    assert np.exp(json.loads(links)) == pytest.approx(json.loads(means))


def test_a_table_that_is_no_text(run, tmp_path):
    file = tmp_path / "bad.csv"
    file.write_bytes(b"\xff\xfe\x00\x81\n\x00")
    code, _, err = run("fit", file, "--target", "y")
    assert code == 2 and len(err.splitlines()) == 1


def test_predict_refuses_what_does_not_fit(run, table, tmp_path):
    model = tmp_path / "model.json"
    run("fit", table, "--target", "y", "--save", model)
    narrow = tmp_path / "narrow.csv"
    pd.read_csv(table).drop(columns="b").to_csv(narrow, index=False)
    code, _, err = run("predict", model, narrow)
    assert code == 2 and "lacks the column 'b'" in err
    code, _, err = run("predict", tmp_path / "none.json", table)
    assert code == 2 and "there is no file" in err


def test_completion_offers_names(run):
    from pyearthdof.cli.df import _complete
    from pyearthdof.cli.reproduce import _complete_name

    assert _complete("mono") == ["monotone-cubic-spline", "monotone-smoothing-spline"]
    assert _complete_name("f-mars") == ["F-mars-df", "F-mars-mse"]
    code, out, _ = run("--show-completion")
    assert code == 0 and out


def test_reproduce_and_report(run, tmp_path):
    out_folder = tmp_path / "results"
    code, out, err = run("reproduce", "f-lasso-df", "--out", out_folder)
    assert code == 0, err
    assert "6 of 6 agree with the paper" in out and "F-lasso-df.csv" in out
    assert out.splitlines()[-3:-1] == ["Computed: F-lasso-df", "Left out: nothing"]
    assert out.splitlines()[-1].startswith(f"Report:   {out_folder / 'report.html'}")
    assert (out_folder / "F-lasso-df.svg").is_file()
    code, out, _ = run("reproduce", "F-lasso-df", "--out", out_folder, "--json")
    [about] = json.loads(out)
    assert about["name"] == "F-lasso-df" and all(c["agrees"] for c in about["comparisons"])
    code, out, _ = run("report", "--out", out_folder)
    assert code == 0 and "report.html" in out


def test_reproduce_of_all_leaves_out_what_cannot_run(run, tmp_path, monkeypatch):
    from pyearthdof import experiments
    from pyearthdof.experiments import t_ozone

    class Absent(t_ozone.Ozone):
        def missing(self, engine):
            return "the data are on another planet"

    few = {"T-ozone": Absent(), "F-lasso-df": experiments.experiment("F-lasso-df")}
    monkeypatch.setattr(experiments, "experiments", lambda: few)
    code, out, err = run("reproduce", "--out", tmp_path)
    assert code == 0 and "T-ozone is left out: the data are on another planet" in err
    assert out.splitlines()[-3:-1] == ["Computed: F-lasso-df", "Left out: T-ozone"]
    page = tmp_path / "report.html"
    assert "left out: the data are on another planet" in page.read_text(encoding="utf-8")
    run("report", "--out", tmp_path)
    assert "left out: the data are on another planet" in page.read_text(encoding="utf-8")
    code, _, err = run("reproduce", "T-ozone", "--out", tmp_path)
    assert code == 3 and "T-ozone cannot run here: the data are on another planet" in err


def test_the_environment_names_the_folder(run, tmp_path, monkeypatch):
    monkeypatch.setenv("PYEARTHDOF_RESULTS", str(tmp_path / "there"))
    assert run("reproduce", "F-lasso-df")[0] == 0
    assert (tmp_path / "there" / "report.html").is_file()
    assert run("report", "--out", tmp_path / "elsewhere")[0] == 2


def test_reproduce_with_a_seed(run, tmp_path):
    code, out, err = run("reproduce", "F-lasso-df", "--seed", 7, "--out", tmp_path)
    assert code == 0, err
    assert "quick size, seed 7" in out and "6 of 6 agree with the paper" in out
    seeded = (tmp_path / "F-lasso-df.csv").read_text(encoding="utf-8")
    assert seeded.splitlines()[0].endswith(",given_seed")
    code, out, _ = run("reproduce", "F-lasso-df", "--out", tmp_path, "--json")
    assert json.loads(out)[0]["seed"] is None
    assert (tmp_path / "F-lasso-df.csv").read_text(encoding="utf-8") != seeded
    for wrong in ("-1", "2147483648", "seven"):
        code, _, err = run("reproduce", "F-lasso-df", "--seed", wrong, "--out", tmp_path)
        assert code == 2 and "--seed" in err


def test_ozone_is_a_table_too(run):
    code, out, _ = run("fit", "ozone", "--target", "O3", "--degree", 2, "--json")
    names = json.loads(out)["feature_names"]
    assert code == 0 and names == [c for c in load_ozone().columns if c != "O3"]


def test_a_read_only_place_is_refused_before_the_work(run, tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda _, mode: mode != os.W_OK)  # root may write anywhere
    code, out, error = run("fit", "ozone", "--target", "O3", "--save", tmp_path / "model.json")
    assert code == 2 and "cannot be written: its folder is read-only" in error and not out
    (tmp_path / "model.json").touch()
    code, out, error = run("fit", "ozone", "--target", "O3", "--save", tmp_path / "model.json")
    assert code == 2 and "cannot be written: it is read-only" in error and not out


def test_outputs_keep_links_and_modes(run, table, tmp_path):
    kept = {}
    for name in ("model.json", "out.csv", "page.html"):
        real = tmp_path / f"real-{name}"
        real.touch(0o600)
        (tmp_path / name).symlink_to(real)
        kept[tmp_path / name] = real
    model, out, page = kept
    native = ("--engine", "native")
    assert run("fit", table, "--target", "y", *native, "--save", model)[0] == 0
    assert run("predict", model, table, "--out", out)[0] == 0
    assert run("report", model, "--out", page)[0] == 0
    for link, real in kept.items():
        assert link.is_symlink() and real.stat().st_size and real.stat().st_mode & 0o777 == 0o600


def test_a_report_of_nothing_leaves_no_folder(run, tmp_path):
    code, _, error = run("report", "--out", tmp_path / "nowhere")
    assert code == 2 and "there is no such folder" in error
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.needs_r
def test_crosscheck_says_whether_both_agree(run, table):
    code, out, _ = run("crosscheck", table, "--target", "y", "--degree", "2")
    assert code == 0 and "The same terms" in out
    code, out, _ = run("crosscheck", table, "--target", "y", "--json")
    assert code == 0 and json.loads(out)["same"] is True


def test_reproduce_strict(run, tmp_path, monkeypatch):
    """Exit code 1 where something disagrees; an open verdict does not."""
    command = ("reproduce", "T-ozone", "--out", tmp_path, "--engine", "native")
    code, out, _ = run(*command, "--strict")
    assert code == 0 and "open: within error" in out and "10 of 10 agree" in out
    monkeypatch.setitem(t_ozone.PAPER[1], "penalty", "2.50")
    assert run(*command)[0] == 0
    for flags in ((), ("--json",), ("--quiet",)):
        code, out, err = run(*command, "--strict", *flags)
        assert code == 1 and "off by 0.49" in out and err == ""
