"""The tests on other versions than those of .venv: `nox -s newest`, `nox -s oldest`, `nox -s no-r`.

What follows -- goes to pytest: `nox -s oldest -- tests/mars`. All of them take the Python that runs nox; a
session's own environment is made anew each time, `nox -R` takes the last one again.
"""

import os
import shutil
import subprocess
from pathlib import Path

import nox

nox.options.sessions = ["newest", "oldest", "no-r"]
nox.options.default_venv_backend = "uv"

PACKAGE = ("--editable", ".[plots,dask]", "--group", "test")  # child processes find the same one
R_PROGRAMS = ("R", "Rscript")


@nox.session
def newest(session):
    """The newest versions of all dependencies."""
    session.install("--upgrade", *PACKAGE, *rpy2_that_fits())
    run_tests(session)


@nox.session
def oldest(session):
    """The oldest versions that pyproject.toml allows and that have wheels for this Python."""
    # rpy2 has none: it is built for the R that is here, as set-up does.
    wheels = ("--only-binary", ":all:", "--no-binary", "pyearthdof")
    session.install("--resolution", "lowest-direct", *wheels, *PACKAGE)
    session.install(*rpy2_that_fits())
    run_tests(session)


@nox.session(name="no-r")
def no_r(session):
    """As on a machine without R."""
    session.install(*PACKAGE)
    run_tests(session, PATH=path_without_r(session))


def run_tests(session, **environment):
    """Say what is tested, then test it."""
    session.run("uv", "pip", "list", external=True)
    arguments = session.posargs or ["-n", "2"]
    session.run("python", "-m", "pytest", "-q", *arguments, env=environment)


def rpy2_that_fits() -> list[str]:
    """Requirements for the R that is here; none without R. The same rule is in .ci/setup."""
    if shutil.which("Rscript") is None:
        return []
    code = 'quit(status = getRversion() < "4.5.0")'
    if subprocess.run(["Rscript", "-e", code], check=False, capture_output=True).returncode == 0:
        return ["rpy2>=3.6"]
    return ["rpy2>=3.6,<=3.6.6", "rpy2-rinterface<=3.6.5", "rpy2-robjects<=3.6.6"]


def path_without_r(session) -> str:
    """One folder that has every program of the PATH but R."""
    if not any(map(shutil.which, R_PROGRAMS)):
        return os.environ["PATH"]
    folder = Path(session.create_tmp()).resolve() / "programs"  # found from any folder
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for directory in os.environ["PATH"].split(os.pathsep):
        for program in Path(directory).glob("*"):
            link = folder / program.name
            if program.stem not in R_PROGRAMS and not os.path.lexists(link):
                link.symlink_to(program)
    return os.pathsep.join([*session.bin_paths, str(folder)])


@nox.session
def wheels(session):
    """The wheels of this system for all Pythons, each tested, by cibuildwheel."""
    session.install("cibuildwheel>=2.22")
    session.run("cibuildwheel", "--output-dir", "dist")
