"""The Dockerfile beyond hadolint (`make lint`): hashes, no compiler, versions, the build context."""

import json
import re
import shlex
import tomllib

import pytest

from pyearthdof import __version__
from tests.support import ROOT

TEXT = (ROOT / "docker" / "Dockerfile").read_text()
JOINED = re.sub(r"\\\n", " ", re.sub(r"^\s*#.*\n", "", TEXT, flags=re.M))
# The image that is shipped: each stage by name, with its origin and its instructions.
STAGES = {
    name: (origin, text)
    for origin, name, text in re.findall(
        r"^FROM (\S+) AS (\S+)\n(.*?)(?=^FROM |\Z)", JOINED, flags=re.M | re.S
    )
}


def shipped(keyword):
    """What the instructions of this kind say in the stages of the last image."""
    texts = [STAGES[name][1] for name in ("system", "system-amd64", "base", "runtime")]
    return [line for text in texts for line in re.findall(rf"^{keyword} (.*)$", text, flags=re.M)]


def environment():
    return dict(word.split("=", 1) for rest in shipped("ENV") for word in shlex.split(rest))


def test_the_last_image_has_no_compiler():
    assert re.search(r"^FROM (\S+)$", JOINED, flags=re.M)[1] == "runtime"
    assert STAGES["runtime"][0] == "base" and STAGES["base"][0] == "system-${TARGETARCH}"
    installed = " ".join(shipped("RUN"))
    assert not re.search(r"(-dev|gcc|g\+\+|gfortran|clang|make|build-essential)\b", installed)
    assert STAGES["builder"][0] == STAGES["runtime"][0]
    assert "src src" in STAGES["package"][1] and not any("src " in c for c in shipped("COPY"))


def test_pip_takes_what_the_locks_name():
    commands = re.findall(r"\bpip\b[^&;]*\b(?:install|wheel) [^&;]*", JOINED)
    assert len(commands) > 4
    for command in commands:
        assert "--require-hashes" in command or "--no-index" in command, command
    assert not re.search(r"--(extra-)?index-url|--find-links|--trusted-host|://\S+:\S+@", JOINED)


def test_the_versions_that_the_numbers_depend_on():
    for package in (
        "r-base-core=4.2.2",
        "r-cran-earth=5.3.2-",
        "r-cran-mda=0.5-3-",
        "python3=3.11",
    ):
        assert f" {package}" in STAGES["system"][1]
    assert environment().items() >= {
        "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "LC_ALL": "C.UTF-8", "LANG": "C.UTF-8",
        "OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    }.items()  # fmt: skip


def test_each_architecture_has_its_own_instructions():
    for name in ("system-amd64", "system-arm64"):
        assert STAGES[name][0] == "system"
    assert not re.search("Haswell|X86|AVX", STAGES["system"][1] + STAGES["system-arm64"][1])


def test_what_it_runs():
    assert json.loads(shipped("ENTRYPOINT")[-1]) == ["pyearthdof"]
    assert json.loads(shipped("CMD")[-1]) == ["reproduce", "--size", "quick", "--out", "/results"]
    volumes = json.loads(shipped("VOLUME")[-1])
    assert environment()["PYEARTHDOF_RESULTS"] == "/results" and "/results" in volumes
    assert any(environment()["MPLCONFIGDIR"].startswith(f"{volume}/") for volume in volumes)
    assert all(int(part) > 0 for part in shipped("USER")[-1].split(":"))


def test_the_label_tells_the_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    (label,) = shipped("LABEL")
    assert f'org.opencontainers.image.version="{__version__}"' in label
    assert f'org.opencontainers.image.licenses="{project["license"]}"' in label


@pytest.mark.parametrize(
    "source", [s for s in re.findall(r"^COPY (?!--)(.*) \S+$", JOINED, flags=re.M)]
)
def test_what_is_copied_is_in_the_context(source):
    for path in source.split():
        assert (ROOT / path).exists() and (path == "." or not ignored(path))


@pytest.mark.parametrize(
    "path",
    [".git/config", ".venv/bin/python", ".env", "docker/.env.local", "id_rsa", "results/T1.csv",
     "tests/server.key", "pyearthdof/__pycache__/cli.cpython-311.pyc", ".hypothesis/unicode",
     "build/cp311-cp311-linux_x86_64/_core.cpython-311-x86_64-linux-gnu.so"],
)  # fmt: skip
def test_the_context_leaves_out(path):
    assert ignored(path)


def ignored(path):
    """Whether .dockerignore leaves a path out: the last pattern that matches decides."""
    left_out = False
    parts = path.split("/")
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        pattern = line.strip().removeprefix("!").strip("/")
        if not pattern or pattern.startswith("#"):
            continue
        regex = re.escape(pattern).replace(r"\*\*/", "(.*/)?").replace(r"\*", "[^/]*")
        if any(re.fullmatch(regex, "/".join(parts[: i + 1])) for i in range(len(parts))):
            left_out = not line.startswith("!")
    return left_out
