"""pyearthdof doctor: what works first, then what R would add, with one line each that fixes it."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pyearthdof
from pyearthdof import doctor
from pyearthdof._utils import core
from pyearthdof.bridge import installation

SOURCES = Path(pyearthdof.__file__).resolve().parents[1]  # where the compiled core is, too
MAIN = "from pyearthdof.cli import main; main()"


def examine(*arguments, before="", **environment):
    """Exit code and lines of the command in a new process."""
    path = os.pathsep.join([environment.pop("FIRST", ""), str(SOURCES)]).strip(os.pathsep)
    done = subprocess.run(
        [sys.executable, "-P", "-c", before + MAIN, "doctor", *arguments],
        capture_output=True, text=True, check=False,
        env={k: v for k, v in os.environ.items() if k != "R_HOME"} | {"PYTHONPATH": path} | environment,
    )  # fmt: skip
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def fix_lines(lines):
    return [line.split("to fix it: ")[1] for line in lines if "to fix it: " in line]


@pytest.mark.needs_r
def test_everything_is_found_here():
    diagnosis = doctor()
    assert diagnosis.ok and diagnosis.usable, str(diagnosis)
    parts = {f.part: f.found for f in diagnosis.findings}
    assert "home" in parts["R"] and "mode" in parts["bridge"]
    assert {"native engine", "Python", "rpy2", "R's earth", "R's mda"} <= set(parts)


@pytest.mark.needs_r
def test_all_there():
    code, lines = examine()
    assert code == 0 and fix_lines(lines) == []
    assert lines[:3] == [
        "MARS: native engine, ready",
        "MARS: R's earth, ready",
        "MARS: R's mda, ready",
    ]
    code, lines = examine("--require", "r", "--json")
    answer = json.loads("\n".join(lines))
    assert code == 0 and answer["ok"] and answer["usable"]
    assert [a["ready"] for a in answer["abilities"]] == [True] * 3


def test_no_r(tmp_path):
    code, lines = examine(PATH=str(tmp_path))
    assert code == 0
    assert lines[0] == "MARS: native engine, ready"
    assert lines[1].startswith("MARS: R's earth, cannot work here: R is not installed")
    assert "it would add: fits by R's earth itself" in lines[2]
    with_rpy2 = importlib.util.find_spec("rpy2") is None
    assert fix_lines(lines) == [installation.r_remedy(with_rpy2=with_rpy2)] * 2
    assert examine("--require", "r", PATH=str(tmp_path))[0] == 1


@pytest.mark.needs_r
def test_r_without_earth(tmp_path):
    empty = {"R_LIBS_SITE": str(tmp_path), "R_LIBS_USER": str(tmp_path)}
    code, lines = examine(**empty)
    assert code == 0
    assert "MARS: R's earth, cannot work here: R's package 'earth' is not installed" in lines
    assert fix_lines(lines) == [
        installation.package_remedy("earth"),
        installation.package_remedy("mda"),
    ]
    assert examine("--require", "r", **empty)[0] == 1


@pytest.mark.needs_r
def test_rpy2_that_does_not_fit(tmp_path):
    (tmp_path / "rpy2").mkdir()
    (tmp_path / "rpy2" / "__init__.py").write_text("raise ImportError('no R_getVar')")
    code, lines = examine(FIRST=str(tmp_path))
    assert code == 0 and "does not work with the installed R (ImportError" in lines[1]
    assert all(sys.executable in line and "--force-reinstall" in line for line in fix_lines(lines))
    assert examine("--require", "r", FIRST=str(tmp_path))[0] == 1


@pytest.mark.needs_r
def test_what_rpy2_logs_while_it_fails_is_not_printed(tmp_path):
    (tmp_path / "rpy2").mkdir()
    (tmp_path / "rpy2" / "__init__.py").write_text("")
    (tmp_path / "rpy2" / "rinterface.py").write_text(
        "import logging; logging.getLogger('rpy2').warning('Trying'); raise OSError('no R_getVar')"
    )
    code, lines = examine(FIRST=str(tmp_path))  # which looks at the error stream
    assert code == 0 and "does not work with the installed R (OSError" in lines[1]


@pytest.mark.needs_r
def test_folders_that_a_removed_rpy2_left_are_no_rpy2(tmp_path, monkeypatch):
    from pyearthdof.bridge.installation import rpy2_is_installed

    assert rpy2_is_installed()
    (tmp_path / "rpy2" / "rinterface").mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    for name in [n for n in sys.modules if n.split(".")[0] == "rpy2"]:
        monkeypatch.delitem(sys.modules, name)
    assert not rpy2_is_installed()
    monkeypatch.delitem(sys.modules, "rpy2")


FORBIDDEN = "import sys; sys.modules['pyearthdof._core'] = None\n"


def test_an_engine_that_is_missing_is_not_usable(tmp_path):
    code, lines = examine(before=FORBIDDEN, PATH=str(tmp_path))
    assert code == 1
    missing = "the compiled core pyearthdof._core is missing for this Python"
    assert lines[0] == f"MARS: native engine, cannot work here: {missing}"
    assert f"{sys.executable} -m pip install" in fix_lines(lines)[0]


def test_an_engine_that_does_not_load_is_not_usable(tmp_path):
    (tmp_path / "_core.abi3.so").write_bytes(b"no library")
    damaged = f"import pyearthdof; pyearthdof.__path__.insert(0, {str(tmp_path)!r})\n"
    # An editable install finds the core by a finder of its own.
    plain = "import sys; sys.meta_path[:] = [f for f in sys.meta_path if isinstance(f, type)]\n"
    code, lines = examine(before=plain + damaged, PATH=str(tmp_path))
    assert code == 1
    assert lines[0].startswith(
        "MARS: native engine, cannot work here: the compiled core pyearthdof._core does not load ("
    )


def test_what_needs_the_core_says_in_a_sentence_that_it_is_missing():
    done = subprocess.run(
        [sys.executable, "-c", FORBIDDEN + MAIN, "df", "tree", "--n-rep", "2"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("pyearthdof: the compiled core pyearthdof._core is missing")


def test_another_requirement_is_refused():
    done = subprocess.run(
        [sys.executable, "-c", MAIN, "doctor", "--require", "julia"],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 2


class TestRemedies:
    """One line that names all that is missing, in order."""

    def test_nothing_is_there(self, monkeypatch):
        monkeypatch.setattr(installation, "_system", lambda: "debian")
        monkeypatch.setattr(installation, "_has_python_headers", lambda: False)
        system, pip = installation.r_remedy(with_rpy2=True).split(" && ")
        assert system == (
            "sudo apt-get install r-base-core r-base-dev python3-dev r-cran-earth r-cran-mda"
        )
        assert pip.endswith("-m pip install 'pyearthdof[r]' 'rpy2-rinterface<=3.6.5'")

    @pytest.mark.parametrize(
        ("version", "pinned"), [("4.2.2", True), ("4.5.0", False), ("10.1.0", False)]
    )
    def test_rpy2_fits_the_r_that_is_there(self, monkeypatch, version, pinned):
        said = {"--version": f"R version {version} (2022-10-31)\n", "mda": "TRUE TRUE"}
        monkeypatch.setattr(installation, "_run", lambda command: said.get(command[-1], ""))
        monkeypatch.setattr(installation, "_can_build", lambda home: True)
        monkeypatch.setattr(installation, "_has_python_headers", lambda: True)
        for remedy in (installation.rpy2_remedy, installation.rpy2_again):
            assert remedy(Path("home")).startswith(f"{sys.executable} -m pip install ")
            assert ("rpy2-rinterface<=3.6.5" in remedy(Path("home"))) is pinned

    def test_a_compiler_and_a_package_come_before_rpy2(self, monkeypatch):
        monkeypatch.setattr(installation, "_system", lambda: "debian")
        monkeypatch.setattr(installation, "_has_python_headers", lambda: True)
        monkeypatch.setattr(installation, "_can_build", lambda home: False)
        monkeypatch.setattr(installation, "_run", lambda command: "FALSE TRUE")
        system, pip = installation.rpy2_remedy(Path("home")).split(" && ")
        assert system == "sudo apt-get install r-base-dev r-cran-earth"
        assert "-m pip install" in pip

    @pytest.mark.parametrize(
        ("system", "words"),
        [
            ("mac", ["installing R (https", "xcode-select", "install.packages(c('earth', 'mda'))"]),
            ("windows", ["installing R (https", "Rtools", "install.packages(c('earth', 'mda'))"]),
            (
                "other",
                ["installing R (https", "a C compiler", "install.packages(c('earth', 'mda'))"],
            ),
        ],
    )
    def test_other_systems(self, monkeypatch, system, words):
        monkeypatch.setattr(installation, "_system", lambda: system)
        remedy = installation.r_remedy(with_rpy2=True)
        places = [remedy.index(word) for word in [*words, "pip install"]]
        assert places == sorted(places) and "apt-get" not in remedy
        for other in (installation.r_again(), installation.package_remedy("earth")):
            assert "apt-get" not in other

    def test_conda_has_all_of_it(self, monkeypatch):
        monkeypatch.setattr(installation, "_system", lambda: "conda")
        monkeypatch.setattr(
            installation, "_missing_beside_rpy2", lambda home: ["a compiler", "mda"]
        )
        conda = "conda install -c conda-forge"
        assert installation.r_remedy(with_rpy2=True) == f"{conda} r-base r-earth r-mda rpy2"
        assert installation.r_remedy(with_rpy2=False) == f"{conda} r-base r-earth r-mda"
        assert installation.rpy2_remedy(Path("home")) == f"{conda} r-mda rpy2"

    @pytest.mark.needs_r
    def test_the_compiler_is_tried(self, tmp_path, monkeypatch):
        home = installation.find_r_home()
        monkeypatch.setenv("PATH", str(tmp_path))
        assert not installation._can_build(home)

    def test_a_core_is_built_in_a_checkout_and_comes_with_a_wheel(self, tmp_path, monkeypatch):
        file = tmp_path / "pyearthdof" / "_utils" / "core.py"
        monkeypatch.setattr(core, "__file__", str(file))
        assert core._core_again() == core.self_again()
        (tmp_path / "src").mkdir()
        (tmp_path / "src" / "CMakeLists.txt").touch()
        assert f"-m pip install --editable {tmp_path} (which needs a C++" in core._core_again()
