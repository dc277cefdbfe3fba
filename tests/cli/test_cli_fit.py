"""fit and predict: every argument of Earth, classes, intervals, files with other separators, quiet runs."""

import inspect
import json
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth, EarthClassifier
from pyearthdof.cli import main
from pyearthdof.cli.fit import EARTH_OPTIONS
from pyearthdof.exceptions import ColumnWarning, ExtrapolationWarning

MAIN = "from pyearthdof.cli import main; main()"


@pytest.fixture
def run(capsys, monkeypatch):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["pyearthdof", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop, warnings.catch_warnings():
            main()
        out, err = capsys.readouterr()
        return stop.value.code or 0, out, err

    return run


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(90, 3)).round(3), columns=["a", "b c", "w"]).assign(w=1.0)
    frame.loc[:40, "w"] = 2.0
    frame["kind"] = rng.choice(["red", "blue"], 90)
    frame["y"] = (np.abs(frame["a"]) + (frame["kind"] == "red") + rng.normal(size=90) / 5).round(4)
    frame["size"] = np.array(["small", "large"])[(frame["y"] + rng.normal(size=90) > 1).astype(int)]
    frame["group"] = np.digitize(frame["y"] + rng.normal(size=90) / 3, [0.7, 1.4])
    file = tmp_path / "data.csv"
    frame.to_csv(file, index=False)
    return file


def columns(table, *names):
    """A file with some of the columns."""
    file = table.with_name("some.csv")
    pd.read_csv(table)[list(names)].to_csv(file, index=False)
    return file


def test_h_is_help(run):
    for arguments in (("-h",), ("fit", "-h"), ("predict", "-h"), ("df", "-h"), ("reproduce", "-h")):
        code, out, _ = run(*arguments)
        assert code == 0 and "Usage" in out


def test_every_argument_of_earth_is_an_option():
    own = set(inspect.signature(EarthClassifier).parameters) - {"allowed"}  # a function of Python's
    assert set(EARTH_OPTIONS) == own


VALUES = {
    "degree": 2, "penalty": 2.5, "nk": 9, "thresh": 0.01, "minspan": -3, "endspan": 5,
    "newvar_penalty": 0.1, "fast_k": 10, "fast_beta": 0.5, "linpreds": ["a"], "pmethod": "forward",
    "nprune": 4, "adjust_endspan": 1.5, "auto_linpreds": False, "scale_y": False, "glm_l2": 0.5,
    "glm_family": "gaussian", "nfold": 3, "ncross": 3, "stratify": False, "varmod_method": "lm",
    "varmod_exponent": 2.0, "varmod_conv": 2.0, "varmod_clamp": 0.2, "varmod_minspan": -2,
    "force_weights": False, "get_leverages": True, "exhaustive_tol": 1e-9, "keepxy": True,
    "random_state": 3, "engine": "native", "n_jobs": 2, "glm_maxit": 30, "glm_epsilon": 1e-7,
    "glm_link": "identity",
}  # fmt: skip
SPELLED = {
    "missing": ("indicator", "indicator"), "monotone": ("a=1", {"a": 1}),
    "interactions": ("a,b c", [["a", "b c"]]),
}  # fmt: skip


def test_options_reach_the_estimator(run, table, tmp_path):
    arguments = []
    for name, value in VALUES.items():
        flag = "--" + name.replace("_", "-")
        if isinstance(value, bool):
            arguments.append(flag if value else f"--no-{flag[2:]}")
        else:
            arguments += [flag, value[0] if isinstance(value, list) else value]
    saved = tmp_path / "model.json"
    data = columns(table, "a", "b c", "y")
    code, _, err = run("fit", data, "--target", "y", "--save", saved, *arguments)
    assert code == 0, err
    params = Earth.load(saved).get_params()
    assert {name: params[name] for name in VALUES} == VALUES
    code, _, err = run("fit", data, "--target", "y", "--thresh", 2)
    assert code == 2 and "thresh=2.0 but it should be a number from 0 to below 1" in err


@pytest.mark.parametrize("name", SPELLED)
def test_constraints_and_missing_values_reach_the_estimator(run, table, tmp_path, name):
    text, value = SPELLED[name]
    saved = tmp_path / "model.json"
    data = columns(table, "a", "b c", "y")
    fit = ("fit", data, "--target", "y", "--engine", "native", "--save", saved)
    code, _, err = run(*fit, f"--{name}", text)
    assert code == 0, err
    assert Earth.load(saved).get_params()[name] == value


def test_a_constraint_without_a_sign_is_refused(run, table):
    data = columns(table, "a", "b c", "y")
    code, _, err = run("fit", data, "--target", "y", "--monotone", "a")
    assert code == 2 and "--monotone='a' but it should be the name of a column and a sign" in err


def test_a_fit_is_that_of_python(run, table):
    frame = pd.read_csv(table)
    data = columns(table, "a", "kind", "y", "w")
    code, out, _ = run("fit", data, "--target", "y", "--weights", "w", "--degree", 2, "--json")
    expected = Earth(degree=2).fit(frame[["a", "kind"]], frame["y"], sample_weight=frame["w"])
    assert code == 0 and json.loads(out)["coef"] == expected.term_coef_.tolist()
    code, _, err = run("fit", data, "--target", "y", "--weights", "no")
    assert code == 2 and "weights='no' but it should be one of a, kind, w" in err


def test_a_target_of_text_is_one_of_classes(run, table, tmp_path):
    saved, data = tmp_path / "model.json", columns(table, "a", "kind", "size")
    options = ["--threshold", 0.4, "--class-weight", "balanced"]
    code, _, err = run("fit", data, "--target", "size", "--save", saved, *options)
    assert code == 0, err
    frame = pd.read_csv(data)
    model = EarthClassifier(threshold=0.4, class_weight="balanced").fit(
        frame[["a", "kind"]], frame["size"]
    )
    code, out, _ = run("predict", saved, data)
    assert out.splitlines() == ["class", *model.predict(frame[["a", "kind"]])]
    code, out, _ = run("predict", saved, data, "--proba", "--out", tmp_path / "p.csv")
    assert code == 0 and out == ""
    found = pd.read_csv(tmp_path / "p.csv")
    assert list(found) == ["class", "probability_large", "probability_small"]
    np.testing.assert_array_equal(
        found.iloc[:, 1:].to_numpy(), model.predict_proba(frame[["a", "kind"]])
    )
    code, out, _ = run("predict", saved, data, "--proba", "--json")
    assert json.loads(out)[0] == found.iloc[0].to_dict()
    code, out, _ = run("predict", saved, data, "--json")
    assert json.loads(out) == found["class"].tolist()


@pytest.mark.parametrize("folds", [(), ("--nfold", 5)], ids=str)
def test_classes_that_separate_are_warned_of_once(table, folds):
    """In a process of its own, where the warnings are printed."""
    frame = pd.read_csv(table)
    frame["place"] = np.select([frame["a"] > 0.5, frame["b c"] > 0.4], ["p", "q"], "r")
    frame[["a", "b c", "place"]].to_csv(table, index=False)
    command = ["fit", table, "--target", "place", "--degree", 2, "--engine", "native", *folds]
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", MAIN, *map(str, command)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    (line,) = done.stderr.splitlines()
    assert line.startswith(
        "pyearthdof: warning: the terms seem to separate the responses 'p', 'q', 'r'"
    )


def test_numbers_are_classes_where_that_is_asked_for(run, table, tmp_path):
    saved, data = tmp_path / "model.json", columns(table, "a", "kind", "group")
    order = [flag for k in (2, 0, 1) for flag in ("--class-order", k)]
    code, _, err = run("fit", data, "--target", "group", "--classify", "--save", saved, *order)
    assert code == 0, err
    assert EarthClassifier.load(saved).classes_.tolist() == [2, 0, 1]
    code, _, err = run("fit", data, "--target", "group", "--threshold", 0.3)
    assert (
        code == 2 and "--threshold is given but the target contains numbers: add --classify" in err
    )
    code, _, err = run("fit", table, "--target", "y", "--target", "size")
    assert code == 2 and "the target 'size' contains text but it should contain numbers" in err


def test_intervals(run, table, tmp_path):
    saved, data = tmp_path / "model.json", columns(table, "a", "kind", "y")
    options = ("--nfold", 3, "--ncross", 3, "--varmod", "lm", "--seed", 1)
    assert run("fit", data, "--target", "y", "--save", saved, *options)[0] == 0
    frame, model = pd.read_csv(data)[["a", "kind"]], Earth.load(saved)
    code, out, err = run("predict", saved, data, "--interval", "prediction", "--level", 0.9)
    assert code == 0, err
    found = np.array([[float(v) for v in line.split(",")] for line in out.splitlines()[1:]])
    assert out.splitlines()[0] == "y,lower,upper"
    np.testing.assert_array_equal(found, model.predict_interval(frame, 0.9).to_numpy())
    plain = tmp_path / "plain.json"
    assert run("fit", data, "--target", "y", "--save", plain)[0] == 0
    code, _, err = run("predict", plain, data, "--interval", "prediction")
    assert code == 2 and "intervals need a variance model" in err
    code, _, err = run("predict", plain, data, "--proba")
    assert code == 2 and "--proba is given but the model is no classifier" in err


def test_columns_are_kept_beside_the_predictions(run, table, tmp_path):
    saved, data = tmp_path / "model.json", columns(table, "a", "y")
    assert run("fit", data, "--target", "y", "--save", saved)[0] == 0
    new = tmp_path / "new.csv"
    new.write_text("id,a,y,note\n007,0.5,1.50,x\n008,-1.0,,\n")
    values = Earth.load(saved).predict(pd.read_csv(new)[["a"]]).tolist()
    code, out, _ = run("predict", saved, new, "--keep", "id", "--keep", "a")
    assert code == 0
    assert out.splitlines() == ["id,a,y", f"007,0.5,{values[0]!r}", f"008,-1.0,{values[1]!r}"]
    code, out, _ = run("predict", saved, new, "--keep", "y", "--keep", "note", "--json")
    first, second = json.loads(out)
    assert first == {"y": "1.50", "note": "x", "predicted_y": values[0]}
    assert second == {"y": None, "note": None, "predicted_y": values[1]}
    code, _, err = run("predict", saved, new, "--keep", "no")
    assert code == 2 and "--keep='no' but it should be one of id, a, y, note" in err


def test_predictions_outside_of_the_range(run, table, tmp_path):
    saved, data = tmp_path / "model.json", columns(table, "a", "y")
    assert run("fit", data, "--target", "y", "--save", saved)[0] == 0
    far = tmp_path / "far.csv"
    far.write_text("a\n99\n")
    code, _, err = run("predict", saved, far, "--extrapolate", "refuse")
    assert code == 2 and "outside of the training range of 'a'" in err
    code, out, _ = run("predict", saved, far, "--extrapolate", "clip")
    largest = pd.read_csv(data)[["a"]].max().to_frame().T
    assert float(out.splitlines()[1]) == Earth.load(saved).predict(largest)[0]


@pytest.mark.parametrize("target", ["size", "group"])
def test_all_that_a_classifier_predicts_outside_of_the_range(run, table, tmp_path, target):
    saved, data = tmp_path / "model.json", columns(table, "a", target)
    assert run("fit", data, "--target", target, "--classify", "--save", saved)[0] == 0
    largest = pd.read_csv(data)[["a"]].max().item()
    far, end = tmp_path / "far.csv", tmp_path / "end.csv"
    far.write_text("a\n99\n")
    end.write_text(f"a\n{largest!r}\n")
    for options in ([], ["--proba"], ["--type", "link"], ["--type", "earth"]):
        expected = run("predict", saved, end, *options)[1]
        assert run("predict", saved, far, *options, "--extrapolate", "clip")[:2] == (0, expected)
        assert options == [] or run("predict", saved, far, *options)[1] != expected
        code, _, err = run("predict", saved, far, *options, "--extrapolate", "refuse")
        assert code == 2 and "outside of the training range of 'a'" in err
        with pytest.warns(ExtrapolationWarning) as caught:
            assert run("predict", saved, far, *options, "--extrapolate", "warn")[0] == 0
        assert len(caught) == 1
    far.write_text("a,more\n,1\n1,1\n")
    code, _, err = run("predict", saved, far, "--type", "link")
    assert code == 2 and "NaN" in err


def test_models_of_earlier_releases(run, table, tmp_path):
    data = columns(table, "a", "kind", "y")
    frame = pd.read_csv(data)
    model = Earth(engine="native").fit(frame[["a", "kind"]], frame["y"])
    model.model_.save(tmp_path / "old.json")
    code, out, _ = run("predict", tmp_path / "old.json", data)
    assert code == 0
    assert [float(v) for v in out.splitlines()[1:]] == model.predict(frame[["a", "kind"]]).tolist()


def test_files_with_semicolons(run, tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("y;a\n" + "".join(f"{k},5;{k * k},25\n" for k in range(30)))
    code, _, err = run("fit", file, "--target", "y")
    assert code == 2 and len(err.splitlines()) == 1
    assert "separated by semicolons: read it with --sep ';' (with --decimal ','" in err
    code, out, err = run("fit", file, "--target", "y", "--sep", ";", "--decimal", ",", "--json")
    assert code == 0, err
    ranges = json.loads(out)["ranges"][0]
    assert (ranges["low"], ranges["high"]) == (0.25, 841.25)
    file.write_text("y\ta\n1\t2\n")
    code, _, err = run("fit", file, "--target", "y")
    assert code == 2 and "separated by tabs: read it with --sep tab" in err
    file.write_text("y\ta\n" + "".join(f"{k}\t{k}\n" for k in range(9)))
    assert run("fit", file, "--target", "y", "--sep", "tab")[0] == 0
    for wrong in (("--sep", "xx"), ("--decimal", "x"), ("--sep", ",", "--decimal", ",")):
        code, _, err = run("fit", file, "--target", "y", *wrong)
        assert code == 2 and "but it should be" in err


def test_quiet(run, table, tmp_path):
    saved = tmp_path / "model.json"
    many = tmp_path / "many.csv"
    frame = pd.DataFrame({"id": [f"u{k}" for k in range(120)], "x": range(120), "y": range(120)})
    frame.to_csv(many, index=False)
    code, out, err = run("fit", many, "--target", "y", "--nk", 3, "--save", saved, "--quiet")
    assert (code, out, err) == (0, "", "")
    with pytest.warns(ColumnWarning):
        run("fit", many, "--target", "y", "--nk", 3)
    code, out, err = run("predict", saved, many, "-q", "--out", tmp_path / "p.csv")
    assert (code, out, err) == (0, "", "") and len(pd.read_csv(tmp_path / "p.csv")) == 120
    code, out, err = run("correct", "--n", 40, "--p", 2, "--n-rep", 10, "--quiet")
    assert code == 0 and out.startswith("penalty") and err == ""


@pytest.mark.parametrize(
    ("flag", "drawn"), [((), True), (("--json",), False), (("--quiet",), False)]
)
def test_json_never_draws_a_bar(run, tmp_path, monkeypatch, flag, drawn):
    seen = []

    def experiments(*_, progress, **__):
        seen.append(progress)
        return []

    monkeypatch.setattr("pyearthdof.experiments.runner.run_experiments", experiments)
    assert run("reproduce", "F-lasso-df", "--out", tmp_path, *flag)[0] == 0
    assert seen == [drawn]


def test_columns_are_left_out(run, table, tmp_path):
    model = tmp_path / "model.json"
    left = ("--without", "size", "--without", "w")
    assert run("fit", table, "--target", "y", *left, "--save", model, "--quiet")[0] == 0
    assert Earth.load(model).model_.raw_names == ("a", "b c", "kind", "group")
    code, _, err = run("fit", table, "--target", "y", "--without", "y")
    assert code == 2 and "--without='y' but it should be one of a, b c, w, kind, size" in err
