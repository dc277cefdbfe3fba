"""The core is built with a compiler that is there, and says in a sentence that there is none."""

import json
import platform
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = Path(sys.executable).parent
pytestmark = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("cmake", "ninja", "nanobind"))
    or not (ROOT / "src" / "CMakeLists.txt").is_file(),
    reason="what builds the core is not here",
)


def configure(folder, *options, **environment):
    command = [TOOLS / "cmake", "-S", ROOT / "src", "-B", folder, "-G", "Ninja"]
    command += [f"-DCMAKE_MAKE_PROGRAM={TOOLS / 'ninja'}", f"-DPython_EXECUTABLE={sys.executable}"]
    return subprocess.run(
        [*command, *options], capture_output=True, text=True, check=False, env=environment
    )


def test_no_compiler(tmp_path):
    (tmp_path / "bin").mkdir()
    done = configure(tmp_path / "build", PATH=str(tmp_path / "bin"))
    assert done.returncode == 1
    said = " ".join(done.stderr.split())
    assert (
        "The core of pyearthdof needs a C++ compiler, and there is none here: install one" in said
    )
    assert "sudo apt-get install g++" in said


@pytest.mark.skipif(shutil.which("c++") is None, reason="there is no compiler here")
def test_every_file_is_compiled_without_contraction_and_fast_math(tmp_path):
    place = subprocess.check_output([sys.executable, "-m", "nanobind", "--cmake_dir"], text=True)
    done = configure(
        tmp_path, f"-Dnanobind_DIR={place.strip()}", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
        "-DCMAKE_BUILD_TYPE=Release", PATH="/usr/local/bin:/usr/bin:/bin",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    commands = json.loads((tmp_path / "compile_commands.json").read_text())
    ours = {
        c["file"]: c["command"].split() for c in commands if c["file"].startswith(str(ROOT / "src"))
    }
    if platform.machine() == "x86_64":
        of_arm = {ROOT / "src" / "simd" / "neon.cpp"}
        assert {Path(file) for file in ours} == set((ROOT / "src").glob("[!t]*/*.cpp")) - of_arm
    for file, words in ours.items():
        assert "-ffp-contract=off" in words, file
        assert not {"-ffast-math", "-Ofast", "-march=native", "-mfma"} & set(words), file
    flags = (tmp_path / "CMakeCache.txt").read_text()
    assert "fast-math" not in flags and "-Ofast" not in flags
