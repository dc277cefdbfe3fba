"""Cells: kept at once, found by what made them, the same for any number of processes."""

import json

import pytest

from pyearthdof._utils.files import write_whole
from pyearthdof.exceptions import FolderInUseError, InvalidInputError
from pyearthdof.experiments import runner
from pyearthdof.experiments.runner import CellStore, locked, run_experiments
from tests.support.toy import Toy


def csv(experiment, **options):
    [result] = run_experiments([experiment], "quick", **options)
    return result.frame.to_csv(index=False)


def test_the_same_bytes_in_one_process_and_two(tmp_path):
    one = csv(Toy())
    assert one == csv(Toy(), n_jobs=2, store=CellStore(tmp_path))
    assert one == csv(Toy(), store=CellStore(tmp_path))  # all from the store
    assert one == Toy().run("quick").to_csv(index=False)


def test_a_failed_run_goes_on_where_it_was(tmp_path):
    store = CellStore(tmp_path)
    with pytest.raises(ArithmeticError):
        csv(Toy(fail_at=2), store=store)
    kept = sorted(tmp_path.iterdir())
    assert len(kept) == 2
    before = [file.stat().st_mtime_ns for file in kept]
    assert csv(Toy(), store=store) == csv(Toy())
    assert len(list(tmp_path.iterdir())) == 4
    assert [file.stat().st_mtime_ns for file in kept] == before, "kept cells were computed again"


def test_fresh_computes_again(tmp_path):
    store = CellStore(tmp_path)
    csv(Toy(), store=store)
    before = {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
    csv(Toy(), store=store, fresh=True)
    after = {file: file.stat().st_mtime_ns for file in tmp_path.iterdir()}
    assert before.keys() == after.keys()
    assert all(after[file] > before[file] for file in before)


def test_other_sizes_versions_and_engines_are_not_mixed_in(tmp_path, monkeypatch):
    store = CellStore(tmp_path)
    quick = csv(Toy(), store=store)
    [result] = run_experiments([Toy()], "paper", store=store)
    assert result.frame.to_csv(index=False) != quick
    assert len(list(tmp_path.iterdir())) == 8
    csv(Toy(), store=store, engine="r")
    assert len(list(tmp_path.iterdir())) == 12
    monkeypatch.setattr(runner, "_versions", lambda experiment, engine: {"earth": "9.9.9"})
    csv(Toy(), store=store)
    assert len(list(tmp_path.iterdir())) == 16


def test_cells_whose_rows_were_others_are_computed_again(tmp_path, monkeypatch):
    store = CellStore(tmp_path)
    monkeypatch.setattr(runner, "ROWS", runner.ROWS - 1)
    csv(Toy(), store=store)
    monkeypatch.undo()
    csv(Toy(), store=store)
    assert len(list(tmp_path.iterdir())) == 8


def test_several_experiments_come_whole(tmp_path):
    first, second = Toy(), Toy()
    second.name = "T-second"
    results = list(run_experiments([first, second], "quick", n_jobs=2, store=CellStore(tmp_path)))
    assert sorted(r.experiment.name for r in results) == ["T-second", "T-toy"]
    assert all(r.frame["seed"].tolist() == [0, 1, 2, 3] for r in results)


def test_a_damaged_or_foreign_cell_is_computed_again(tmp_path):
    store = CellStore(tmp_path)
    expected = csv(Toy(), store=store)
    files = sorted(tmp_path.iterdir())
    files[0].write_text("{", encoding="utf-8")
    record = json.loads(files[1].read_text(encoding="utf-8"))
    record["key"]["versions"]["numpy"] = "0.0"
    files[1].write_text(json.dumps(record), encoding="utf-8")
    files[2].write_text("[]", encoding="utf-8")
    assert csv(Toy(), store=store) == expected


def test_unknown_size_is_refused():
    with pytest.raises(InvalidInputError, match=r"size='huge' but it should be 'quick' or 'paper'"):
        Toy().run("huge")


def test_a_folder_is_held_by_one_run(tmp_path):
    with (
        locked(tmp_path),
        pytest.raises(FolderInUseError, match=r"process \d+.*--out"),
        locked(tmp_path),
    ):
        pass
    with locked(tmp_path):
        pass


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    file = tmp_path / "a" / "b.txt"
    file.parent.mkdir()
    write_whole(file, "old")
    with pytest.raises(UnicodeEncodeError):
        write_whole(file, "\ud800")
    assert file.read_text() == "old"
    assert [f.name for f in file.parent.iterdir()] == ["b.txt"]
