"""The Dockerfile keeps its promises: stated versions, no root, no secrets, no compiler in what is shipped."""

import shlex
import tomllib
from pathlib import Path

import pytest

from pyearthdof import __version__
from tests.support.dockerfile_lint import exec_form, findings, ignored, last_chain, parse

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docker" / "Dockerfile").read_text()


def last(keyword):
    return next(s.last(keyword) for s in reversed(last_chain(parse(TEXT))) if s.last(keyword))


def environment():
    words = [w for s in last_chain(parse(TEXT)) for rest in s.all("ENV") for w in shlex.split(rest)]
    return dict(word.split("=", 1) for word in words)


def test_nothing_is_wrong():
    assert findings(TEXT, ROOT) == []


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        (("debian:bookworm-slim AS", "debian AS"), "names no version"),
        (("debian:bookworm-slim AS", "debian:latest AS"), "names no version"),
        (("r-cran-earth=5.3.2-1", "r-cran-earth"), "r-cran-earth has no version"),
        (("--no-install-recommends", ""), "--no-install-recommends"),
        (("rm -rf /var/lib/apt/lists/*", "true"), "lists stay"),
        (("--require-hashes", ""), "pip without hashes"),
        (("USER 1000:1000\nWORKDIR /results", "WORKDIR /results"), "runs as root"),
        (("USER 1000:1000\nWORKDIR /results", "USER root\nWORKDIR /results"), "runs as root"),
        (("FROM base AS runtime", "FROM builder AS runtime"), "has a compiler: r-base-dev"),
        (("\nFROM runtime\n", "\nFROM builder\n"), "has a compiler"),
        (("COPY r_scripts r_scripts", "COPY rscripts r_scripts"), "COPY rscripts: no such file"),
        (("COPY r_scripts r_scripts", "COPY .git .git"), ".dockerignore leaves it out"),
        (("COPY r_scripts r_scripts", "ADD r_scripts r_scripts"), "use COPY"),
        (("--from=builder /opt", "--from=build /opt"), "no such stage"),
        (
            ("RUN apt-get", "RUN --mount=type=bind,from=tools,target=/t apt-get"),
            "from=tools: no such",
        ),
        (("TZ=UTC", "GITHUB_TOKEN=abc"), "GITHUB_TOKEN looks like a secret"),
        (("-w /dist .", "-w /dist --index-url https://a.b/simple ."), "names a package index"),
        (("-w /dist .", "-w /dist https://me:word@a.b/c.whl ."), "address with a login"),
    ],
)
def test_the_lint_sees(change, finding):
    broken = TEXT.replace(*change)
    assert broken != TEXT
    if not (ROOT / ".git").exists() and ".git" in change[1]:
        pytest.skip("this copy of the sources has no .git")
    assert any(finding in sentence for sentence in findings(broken, ROOT))


def test_the_versions_that_the_numbers_depend_on():
    base = " ".join(last_chain(parse(TEXT))[0].all("RUN"))
    for package in (
        "r-base-core=4.2.2",
        "r-cran-earth=5.3.2-",
        "r-cran-mda=0.5-3-",
        "python3=3.11",
    ):
        assert f" {package}" in base
    assert environment().items() >= {
        "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "LC_ALL": "C.UTF-8", "LANG": "C.UTF-8",
        "OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    }.items()  # fmt: skip


def test_what_it_runs():
    assert exec_form(last("ENTRYPOINT")) == ["pyearthdof"]
    command = exec_form(last("CMD"))
    assert command == ["reproduce", "--size", "quick", "--out", "/results"]
    assert environment()["PYEARTHDOF_RESULTS"] in exec_form(last("VOLUME"))
    assert environment()["PYEARTHDOF_RESULTS"] == "/results"
    user, _, group = last("USER").partition(":")
    assert int(user) > 0
    assert int(group) > 0


def test_the_cache_lies_in_a_volume():
    cache = environment()["MPLCONFIGDIR"]
    assert any(cache.startswith(f"{volume}/") for volume in exec_form(last("VOLUME")))


def test_the_core_is_built_where_the_compiler_is():
    stages = {stage.name: stage for stage in parse(TEXT)}
    assert "src src" in stages["package"].all("COPY")
    assert any("pip wheel" in run for run in stages["package"].all("RUN"))
    assert not any(
        rest.startswith("src ") for s in last_chain(parse(TEXT)) for rest in s.all("COPY")
    )


def test_the_label_tells_the_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert f'org.opencontainers.image.version="{__version__}"' in last("LABEL")
    assert f'org.opencontainers.image.licenses="{project["license"]}"' in last("LABEL")


@pytest.mark.parametrize(
    "path",
    [".git/config", ".venv/bin/python", ".env", "docker/.env.local", "id_rsa", "results/T1.csv",
     "tests/server.key", "pyearthdof/__pycache__/cli.cpython-311.pyc", ".hypothesis/unicode",
     "build/cp311-cp311-linux_x86_64/_core.cpython-311-x86_64-linux-gnu.so"],
)  # fmt: skip
def test_the_context_leaves_out(path):
    assert ignored(path, ROOT)


@pytest.mark.parametrize(
    "path", ["pyearthdof/cli/df.py", "r_scripts/earth.R", "src/CMakeLists.txt", "docker/Dockerfile"]
)
def test_the_context_holds(path):
    assert not ignored(path, ROOT)
