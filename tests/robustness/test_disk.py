"""The disk is full, the folder becomes read-only, a stored cell is damaged: said, and nothing lost."""

import errno
import io
import json
import os
import pickle
import stat
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

import pyearthdof.experiments
from pyearthdof import Earth, MarsModel, cli
from pyearthdof._utils.files import FileNotWrittenError, write_whole
from pyearthdof.exceptions import InvalidInputError
from pyearthdof.experiments import Experiment
from pyearthdof.experiments.base import new_figure
from pyearthdof.experiments.runner import CellStore, DamagedCellWarning, locked, run_experiments
from tests.support.figures import record


class Means(Experiment):
    """Six cells; before each, `hook(seed)` may do harm."""

    name = "T-means"
    title = question = "Means"
    sizes: ClassVar = {"quick": {"n": 3}}

    def __init__(self, hook=None):
        self.hook = hook

    def cells(self, size):
        return [{"seed": seed} for seed in range(6)]

    def compute(self, cell, engine):
        if self.hook is not None:
            self.hook(cell["seed"])
        values = np.random.default_rng(cell["seed"]).normal(size=200)
        return [{"seed": cell["seed"], "value": float(v), "nothing": None} for v in values]

    def compare(self, frame):
        return []

    def plot(self, frame):
        figure, ax = new_figure()
        ax.plot(frame["value"])
        return figure


def csv(store, hook=None) -> str:
    [result] = run_experiments([Means(hook)], "quick", store=store)
    return result.frame.to_csv(index=False)


def files(folder) -> dict:
    """Every file with its time and its bytes."""
    found = [f for f in Path(folder).rglob("*") if f.is_file() and f.name != ".lock"]
    return {f.name: (f.stat().st_mtime_ns, f.read_bytes()) for f in found}


def run_cli(monkeypatch, capsys, hook, *arguments) -> tuple[int, list[str]]:
    """Run `pyearthdof reproduce` here; its exit code and what it wrote on the error stream."""
    monkeypatch.setattr(pyearthdof.experiments, "experiment", lambda name: Means(hook))
    monkeypatch.setattr(sys, "argv", ["pyearthdof", "reproduce", "T-means", *arguments])
    with pytest.raises(SystemExit) as end:
        cli.main()
    return end.value.code or 0, capsys.readouterr().err.splitlines()


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 40 kB, room for two cells or three."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=40k", "tmpfs", str(place)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"a small disk needs the right to mount: {done.stderr.strip()}")
    yield place
    run("umount", "--recursive", place)


def run(*command):
    subprocess.run(list(map(str, command)), check=True)


class TestFull:
    def test_a_real_full_disk(self, small_disk, monkeypatch, capsys):
        out = ("--out", str(small_disk))
        code, lines = run_cli(monkeypatch, capsys, None, *out)
        assert code == 3 and len(lines) == 1
        assert (
            str(small_disk) in lines[0] and "No space left on device; after fixing this" in lines[0]
        )
        kept = files(small_disk)
        assert kept and not [name for name in kept if name.startswith(".partial")]
        assert all(name.startswith("T-means-") for name in kept), "something half-written is left"
        run("mount", "-o", "remount,size=4m", small_disk)
        computed = []
        code, lines = run_cli(monkeypatch, capsys, computed.append, *out)
        assert (code, lines) == (0, [])
        assert len(computed) == 6 - len(kept)
        now = files(small_disk)
        assert all(now[name] == kept[name] for name in kept)
        record("disk full", cells_kept=len(kept), cells_lost=0)

    def test_every_step_of_writing(self, tmp_path, monkeypatch):
        """Wherever the system refuses, the old file stays and nothing is left beside it."""
        file = tmp_path / "a.json"
        write_whole(file, "old")

        def full(*args, **kwargs):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        for place in ("os.replace", "os.chmod", "os.fsync", "os.fdopen", "os.open"):
            with monkeypatch.context() as patch:
                patch.setattr(place, full)
                with pytest.raises(
                    FileNotWrittenError, match=r"a\.json.*: No space left on device"
                ):
                    write_whole(file, "new")
            assert [f.name for f in tmp_path.iterdir()] == ["a.json"]
            assert file.read_text() == "old"

    def test_files_may_not_grow(self, tmp_path):
        code = """
            import resource, sys
            from tests.robustness.test_disk import Means
            from pyearthdof._utils.files import FileNotWrittenError
            from pyearthdof.experiments.runner import run_experiments
            from pyearthdof.experiments.runner import CellStore

            resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
            try:
                list(run_experiments([Means()], "quick", store=CellStore(sys.argv[1])))
            except FileNotWrittenError as error:
                print(error)
        """
        sources = str(Path(pyearthdof.__file__).parents[1])
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "cells")],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | {"PYTHONPATH": sources},
        )
        assert done.stdout.rstrip().endswith("could not be written: File too large"), done.stderr
        assert not list((tmp_path / "cells").iterdir())

    def test_the_error_comes_back_from_a_worker(self):
        error = pickle.loads(pickle.dumps(FileNotWrittenError("'a' could not be written: full")))
        assert isinstance(error, OSError) and str(error) == "'a' could not be written: full"


@pytest.fixture
def umask():
    before = os.umask(0o027)
    yield os.umask
    os.umask(before)


class TestModesAndLinks:
    def test_a_new_file_honours_the_umask(self, tmp_path, umask):
        for mask in (0o077, 0o027, 0o002):
            umask(mask)
            file = tmp_path / f"{mask}.json"
            write_whole(file, "new")
            assert file.stat().st_mode & 0o777 == 0o666 & ~mask

    @pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o666])
    def test_an_old_file_keeps_its_mode(self, tmp_path, umask, mode):
        file = tmp_path / "a.json"
        file.write_text("old")
        file.chmod(mode)
        write_whole(file, "new")
        assert (file.read_text(), file.stat().st_mode & 0o777) == ("new", mode)

    def test_an_old_file_is_never_more_readable(self, tmp_path, umask, monkeypatch):
        """Not even while it is written."""
        umask(0)
        file, seen = tmp_path / "a.json", []
        file.write_text("old")
        file.chmod(0o600)
        fsync = os.fsync
        monkeypatch.setattr(os, "fsync", lambda fd: (seen.append(os.fstat(fd)), fsync(fd)))
        write_whole(file, "new")
        assert seen[0].st_mode & 0o777 == 0o600

    @pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="needs the right to chown")
    def test_an_old_file_keeps_its_owner(self, tmp_path):
        file = tmp_path / "a.json"
        file.write_text("old")
        os.chown(file, 12, 34)
        write_whole(file, "new")
        assert (file.stat().st_uid, file.stat().st_gid) == (12, 34)

    def test_links_are_followed(self, tmp_path):
        (tmp_path / "deep").mkdir()
        real, link, chain = tmp_path / "deep" / "a.json", tmp_path / "link", tmp_path / "chain"
        link.symlink_to("deep/a.json")
        chain.symlink_to(link)
        for name, text in ((link, "made by a link"), (chain, "and by two")):
            write_whole(name, text)
            assert name.is_symlink() and real.read_text() == text and not real.is_symlink()
        assert sorted(f.name for f in tmp_path.rglob("*")) == ["a.json", "chain", "deep", "link"]

    def test_a_link_to_itself(self, tmp_path):
        link = tmp_path / "a.json"
        link.symlink_to(link)
        with pytest.raises(FileNotWrittenError, match=r"a\.json.*symbolic links"):
            write_whole(link, "new")
        assert link.is_symlink()

    def test_a_fifo_is_written_into(self, tmp_path):
        fifo = tmp_path / "fifo"
        os.mkfifo(fifo)
        with subprocess.Popen(["cat", str(fifo)], stdout=subprocess.PIPE) as reader:
            write_whole(fifo, b"through")
            assert reader.communicate(timeout=60)[0] == b"through"
        assert fifo.is_fifo() and len(list(tmp_path.iterdir())) == 1

    def test_a_device_is_written_into(self, tmp_path):
        write_whole("/dev/null", "nothing")
        assert Path("/dev/null").is_char_device()
        link = tmp_path / "link"
        link.symlink_to("/dev/full")
        with pytest.raises(FileNotWrittenError, match="No space left on device"):
            write_whole(link, "x")
        assert link.is_symlink() and Path("/dev/full").is_char_device()

    @pytest.mark.parametrize("path", [None, 3, 2.5, ["a.json"], io.StringIO(), "a\0.json"])
    def test_what_names_no_file_is_refused(self, path):
        model = Earth(engine="native").fit(np.arange(20.0)[:, None], np.arange(20.0))
        for save in (model.save, model.report, model.model_.save):
            with pytest.raises(
                InvalidInputError, match=r"path=.* but it should be the name of a file"
            ):
                save(path)
        if not hasattr(path, "read"):
            with pytest.raises(InvalidInputError, match="should be the name of a file"):
                MarsModel.load(path)

    def test_names_of_bytes_and_streams(self, tmp_path):
        model = Earth(engine="native").fit(np.arange(20.0)[:, None], np.arange(20.0))
        model.save(os.fsencode(tmp_path / "a.json"))
        with open(tmp_path / "a.json") as text, open(tmp_path / "a.json", "rb") as stream:
            for file in (os.fsencode(tmp_path / "a.json"), text, stream):
                assert MarsModel.load(file).term_names == model.model_.term_names

    def test_a_folder_is_refused(self, tmp_path):
        with pytest.raises(FileNotWrittenError, match="Is a directory"):
            write_whole(tmp_path, "x")

    def test_file_and_folder_are_synchronised(self, tmp_path, monkeypatch):
        """The bytes before the rename, the name after it."""
        done, fsync, replace = [], os.fsync, os.replace

        def synchronise(handle):
            done.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
            fsync(handle)

        monkeypatch.setattr(os, "fsync", synchronise)
        monkeypatch.setattr(os, "replace", lambda *a: (done.append("rename"), replace(*a)))
        write_whole(tmp_path / "a.json", "new")
        assert done == ["file", "rename", "folder"]


class TestReadOnly:
    def test_in_the_middle_of_a_run(self, small_disk, monkeypatch, capsys):
        run("mount", "-o", "remount,size=4m", small_disk)
        cells = small_disk / "cells"

        def hook(seed):
            if seed == 3:
                run("mount", "--bind", cells, cells)
                run("mount", "-o", "remount,ro,bind", cells)

        code, lines = run_cli(monkeypatch, capsys, hook, "--out", str(small_disk))
        assert code == 3 and len(lines) == 1
        assert "Read-only file system" in lines[0] and str(cells) in lines[0]
        run("umount", cells)
        kept = files(small_disk)
        assert len(kept) == 3
        computed = []
        code, lines = run_cli(monkeypatch, capsys, computed.append, "--out", str(small_disk))
        assert (code, lines, computed) == (0, [], [3, 4, 5])
        now = files(small_disk)
        assert all(now[name] == kept[name] for name in kept)
        record("folder becomes read-only", cells_kept=len(kept), cells_lost=0)

    def test_from_the_beginning(self, small_disk, monkeypatch, capsys):
        run("mount", "-o", "remount,ro", small_disk)
        code, lines = run_cli(monkeypatch, capsys, None, "--out", str(small_disk))
        assert code == 2 and len(lines) == 1
        assert f"{str(small_disk)!r} cannot be written: Read-only file system" in lines[0]

    def test_to_forget_a_cell(self, tmp_path, monkeypatch):
        def refuse(*args, **kwargs):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))

        store = CellStore(tmp_path)
        csv(store)
        monkeypatch.setattr(Path, "unlink", refuse)
        with pytest.raises(FileNotWrittenError, match="cannot be removed: Read-only"):
            list(run_experiments([Means()], "quick", store=store, fresh=True))

    def test_a_full_disk_from_the_beginning(self, tmp_path, monkeypatch):
        def full(*args, **options):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        with monkeypatch.context() as patch:
            patch.setattr(Path, "write_text", full)
            with pytest.raises(InvalidInputError, match="No space left"), locked(tmp_path):
                pass
        with locked(tmp_path):  # it was given back
            pass


def change(text, **parts) -> str:
    return json.dumps(json.loads(text) | parts)


def other_number(text) -> str:
    rows = json.loads(text)["rows"]
    rows[7]["value"] += 1e-9
    return change(text, rows=rows)


DAMAGES = {
    "truncated": (lambda text: text[: len(text) // 2], "is not whole"),
    "empty": (lambda text: "", "is empty"),
    "zeros": (lambda text: "\0" * len(text), "is not whole"),
    "not text": (lambda text: b"\xff\xfe\x80", "cannot be read"),
    "deep": (lambda text: "[" * 100_000, "is not whole"),
    "a list": (lambda text: "[]", "is not a record of a cell"),
    "a number": (lambda text: "1", "is not a record of a cell"),
    "without rows": (lambda text: '{"key": {}}', "is not a record of a cell"),
    "rows of a wrong type": (lambda text: change(text, rows="abc"), "was changed"),
    "values of a wrong type": (lambda text: change(text, rows=[{"seed": "x"}]), "was changed"),
    "seconds of a wrong type": (lambda text: change(text, seconds=None), "was changed"),
    "another number": (other_number, "was changed after it was written"),
    "other settings": (lambda text: change(text, key={"cell": {"seed": 9}}), "with other settings"),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The result and its cells, unharmed."""
    folder = tmp_path_factory.mktemp("whole")
    return csv(CellStore(folder)), {f.name: f.read_bytes() for f in folder.iterdir()}


class TestDamagedCells:
    @pytest.mark.parametrize("damage", DAMAGES)
    def test_is_said_and_computed_again(self, damage, whole, tmp_path):
        expected, cells = whole
        for name, content in cells.items():
            (tmp_path / name).write_bytes(content)
        store = CellStore(tmp_path)
        victim = sorted(tmp_path.iterdir())[2]
        function, problem = DAMAGES[damage]
        broken = function(victim.read_text())
        victim.write_bytes(broken if isinstance(broken, bytes) else broken.encode())
        before = files(tmp_path)
        computed = []
        with pytest.warns(DamagedCellWarning) as said:
            assert csv(store, computed.append) == expected
        [message] = [str(w.message) for w in said]
        assert str(victim) in message and problem in message
        assert message.endswith("is computed again")
        assert len(computed) == 1
        after = files(tmp_path)
        assert after.keys() == before.keys()
        assert all(after[name] == before[name] for name in before if name != victim.name)
        assert csv(store) == expected  # and now it is whole
        record("stored cell damaged", damage=damage, cells_kept=5, cells_computed_again=1)

    def test_one_line_on_the_command_line(self, tmp_path, monkeypatch, capsys):
        out = ("--out", str(tmp_path))
        assert run_cli(monkeypatch, capsys, None, *out) == (0, [])
        result = (tmp_path / "T-means.csv").read_bytes()
        victim = next((tmp_path / "cells").iterdir())
        victim.write_bytes(victim.read_bytes()[:100])
        code, lines = run_cli(monkeypatch, capsys, None, *out)
        assert code == 0
        assert lines == [
            f"pyearthdof: the stored cell {str(victim)!r} is not whole and is computed again"
        ]
        assert (tmp_path / "T-means.csv").read_bytes() == result


def test_what_a_killed_writer_left_is_removed(tmp_path):
    (tmp_path / "cells").mkdir()
    for folder in (tmp_path, tmp_path / "cells"):
        (folder / ".partial-abc").write_text("half a cell")
        (folder / "other.txt").write_text("not ours")
    with locked(tmp_path):
        pass
    assert sorted(files(tmp_path)) == ["other.txt"]
    assert len(list(tmp_path.rglob("other.txt"))) == 2
