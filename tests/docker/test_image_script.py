"""docker/image.sh takes an engine that answers, and says so where there is none."""

import os
import shutil
import subprocess

import pytest

from tests.support import ROOT

SCRIPT = ROOT / "docker" / "image.sh"


def run(tmp_path, engines, *args, **variables):
    """Run the script where only these engines exist: name -> exit code of `name info`."""
    for tool in ("bash", "dirname", "sed", "uname"):
        (tmp_path / tool).symlink_to(shutil.which(tool))
    for name, answer in engines.items():
        fake = tmp_path / name
        fake.write_text(f'#!/bin/bash\n[ "$1" = info ] && exit {answer}\necho "{name} $*"\n')
        fake.chmod(0o755)
    return subprocess.run(
        [shutil.which("bash"), SCRIPT, *args], env={**os.environ, **variables, "PATH": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("engines", "taken"),
    [
        ({"docker": 0, "buildah": 0}, "docker build"),
        ({"docker": 1, "podman": 0, "buildah": 0}, "podman build"),
        ({"docker": 1, "buildah": 0}, "buildah bud"),
        ({"buildah": 0}, "buildah bud"),
    ],
)
def test_takes_the_engine_that_answers(tmp_path, engines, taken):
    done = run(tmp_path, engines, "build")
    assert done.returncode == 0, done.stderr
    call = done.stdout.splitlines()[-1]
    assert call.startswith(taken)
    assert "--file docker/Dockerfile --target runtime --tag pyearthdof:latest ." in call


@pytest.mark.parametrize("engine", ["docker", "podman", "buildah"])
def test_the_base_can_be_given_by_digest(tmp_path, engine):
    done = run(tmp_path, {engine: 0}, "build", BASE="debian@sha256:0123")
    assert "--build-arg BASE=debian@sha256:0123 --target runtime" in done.stdout


def test_no_engine_is_one_sentence(tmp_path):
    done = run(tmp_path, {"docker": 1}, "build")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "neither podman nor buildah" in done.stderr


def test_an_unknown_command_shows_the_usage(tmp_path):
    done = run(tmp_path, {"buildah": 0}, "push")
    assert done.returncode == 2
    assert "docker/image.sh build" in done.stderr
