"""report: the page of a saved model, beside that of the results of `reproduce`."""

import json
import sys

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth, EarthClassifier
from pyearthdof.cli import main


@pytest.fixture
def run(capsys, monkeypatch):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["pyearthdof", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = capsys.readouterr()
        return stop.value.code or 0, out, err

    return run


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=80), "kind": rng.choice(["x", "z"], 80)})
    y = (np.abs(frame["a"]) + (frame["kind"] == "z") + rng.normal(size=80) / 9).rename("out")
    Earth(engine="native").fit(frame, y).save(tmp_path / "model.json")
    classes = np.where(y + rng.normal(size=80) > 1, "big", "small")
    EarthClassifier(engine="native").fit(frame, classes).save(tmp_path / "classes.json")
    frame.assign(out=y, size=classes).to_csv(tmp_path / "new.csv", index=False)
    return tmp_path


def test_the_page_is_beside_the_model(run, files):
    code, out, err = run("report", files / "model.json")
    assert (code, err) == (0, "") and out == f"Open {files / 'model.html'}\n"
    page = (files / "model.html").read_text()
    assert "MARS model of out" in page and "On the given rows" not in page


def test_rows_and_what_was_observed(run, files):
    page = files / "page.html"
    code, out, _ = run(
        "report", files / "model.json", "--data", files / "new.csv", "--out", page, "--json"
    )
    assert code == 0 and json.loads(out) == {"file": str(page)}
    assert "On the given rows" in page.read_text() and "root mean square error" in page.read_text()
    arguments = ("report", files / "classes.json", "--data", files / "new.csv", "--out", page, "-q")
    assert run(*arguments) == (0, "", "")
    assert "are not in the data" in page.read_text()
    assert run(*arguments, "--target", "size")[0] == 0
    assert "Brier score" in page.read_text()


def test_measured_df(run, files, monkeypatch):
    monkeypatch.setattr("pyearthdof.cli.report.REPETITIONS", 5)
    assert run("report", files / "model.json", "--df", "-q")[0] == 0
    assert "actual df" in (files / "model.html").read_text()


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("missing.json",), "there is no file 'missing.json'"),
        (("{}",), "is a folder: for the results in it, give --out"),
        (("{}/new.csv",), "this is not a saved MARS model"),
        (("{}/model.json", "--out", "{}/model.json"), "another file than the model"),
        (("{}/model.json", "--out", "/no/such/page.html"), "its folder does not exist"),
        (("{}/model.json", "--target", "y"), "--target is given but there are no rows"),
        (("{}/model.json", "--data", "{}/new.csv", "--target", "q"), "lacks the column 'q'"),
        (("{}/model.json", "--data", "{}/new.csv", "--target", "size"), "columns of numbers"),
        (("--data", "{}/new.csv"), "there is no model: give the file of `fit --save`"),
    ],
)
def test_refusals(run, files, arguments, message):
    code, out, err = run("report", *(text.format(files) for text in arguments))
    assert code == 2 and message in err and out == "" and len(err.splitlines()) == 1
