"""Reads a Dockerfile and says what is wrong with it, in the few respects that we care about."""

from __future__ import annotations

import fnmatch
import json
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Stage", "findings", "ignored", "last_chain", "parse"]

COMPILERS = re.compile(r"^(gcc|g\+\+|gfortran|clang|make|build-essential|r-base-dev|.*-dev)$")
SECRET = re.compile(r"(password|passwd|secret|token|api_?key|private_?key|credential)", re.I)
URL_WITH_LOGIN = re.compile(r"[a-z]+://[^/\s\"']+:[^/\s\"']+@", re.I)
INDEX = re.compile(r"(--(extra-)?index-url|--find-links|--trusted-host|PIP_INDEX_URL)")


@dataclass(frozen=True)
class Stage:
    """One FROM with its instructions, as (keyword, rest of the line) pairs."""

    name: str
    origin: str
    steps: tuple[tuple[str, str], ...] = field(default=())

    def last(self, keyword: str) -> str | None:
        """What the last instruction of this kind says."""
        return next((rest for key, rest in reversed(self.steps) if key == keyword), None)

    def all(self, keyword: str) -> list[str]:
        """What every instruction of this kind says."""
        return [rest for key, rest in self.steps if key == keyword]


def parse(text: str) -> list[Stage]:
    """Split a Dockerfile into stages; comments go, continued lines are joined."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n", " ", "\n".join(lines))
    stages: list[Stage] = []
    for line in filter(None, map(str.strip, joined.splitlines())):
        keyword, _, rest = line.partition(" ")
        keyword, rest = keyword.upper(), " ".join(rest.split())
        if keyword == "FROM":
            origin, _, name = re.sub(r" as ", " AS ", rest, flags=re.I).partition(" AS ")
            stages.append(Stage(name or f"#{len(stages)}", origin))
        elif stages:
            previous = stages[-1]
            stages[-1] = Stage(previous.name, previous.origin, (*previous.steps, (keyword, rest)))
    return stages


def last_chain(stages: list[Stage]) -> list[Stage]:
    """Return the last stage and those that it is made from, outermost first."""
    by_name = {stage.name: stage for stage in stages}
    chain = [stages[-1]]
    while chain[0].origin in by_name:
        chain.insert(0, by_name[chain[0].origin])
    return chain


def findings(text: str, root: Path) -> list[str]:
    """Every problem as one sentence; `root` is the build context."""
    stages = parse(text)
    if not stages:
        return ["there is no FROM"]
    found = []
    for position, stage in enumerate(stages):
        earlier = {s.name for s in stages[:position]}
        found += _origin(stage, earlier) + _copies(stage, earlier, root) + _packages(stage)
        found += _secrets(stage)
    return found + _last(stages)


def _origin(stage: Stage, earlier: set[str]) -> list[str]:
    if stage.origin in earlier:
        return []
    _, _, tag = stage.origin.rpartition(":")
    if ":" not in stage.origin or tag == "latest":
        return [f"FROM {stage.origin} names no version"]
    return []


def _copies(stage: Stage, earlier: set[str], root: Path) -> list[str]:
    found = [f"ADD {rest}: use COPY" for rest in stage.all("ADD")]
    for rest in stage.all("COPY"):
        words = shlex.split(rest)
        origin = next((w.partition("=")[2] for w in words if w.startswith("--from=")), None)
        if origin is not None:
            found += [] if origin in earlier else [f"COPY --from={origin}: no such stage"]
            continue
        for source in [w for w in words if not w.startswith("--")][:-1]:
            if not (root / source).exists():
                found.append(f"COPY {source}: no such file")
            elif source != "." and ignored(source, root):
                found.append(f"COPY {source}: .dockerignore leaves it out")
    for origin in re.findall(r"--mount=\S*\bfrom=([^,\s]+)", " ".join(stage.all("RUN"))):
        found += [] if origin in earlier else [f"--mount from={origin}: no such stage"]
    return found


def ignored(path: str, root: Path) -> bool:
    """Tell whether .dockerignore leaves a path out: the last pattern that matches decides."""
    left_out = False
    parts = Path(path).parts
    prefixes = ["/".join(parts[: i + 1]) for i in range(len(parts))]
    for line in (root / ".dockerignore").read_text().splitlines():
        pattern = line.strip()
        if not pattern or pattern.startswith("#"):
            continue
        keep, pattern = pattern.startswith("!"), pattern.removeprefix("!").strip("/")
        if any(_matches(prefix, pattern) for prefix in prefixes):
            left_out = not keep
    return left_out


def _matches(path: str, pattern: str) -> bool:
    # fnmatch lets * cross a slash; Docker does so only for **.
    if pattern.startswith("**/"):
        return fnmatch.fnmatchcase(path.rpartition("/")[2], pattern[3:])
    return path.count("/") == pattern.count("/") and fnmatch.fnmatchcase(path, pattern)


def _packages(stage: Stage) -> list[str]:
    found = []
    for run in stage.all("RUN"):
        for command in re.split(r"&&|;|\|\|", run):
            words = command.split()
            if "apt-get" in words and "install" in words:
                found += _apt(command, run)
            elif re.search(r"\bpip3?\b", command) and {"install", "wheel"} & set(words):
                found += _pip(command)
    return found


def _apt(command: str, run: str) -> list[str]:
    found = [f"{name} has no version" for name in apt_packages(command) if "=" not in name]
    if "--no-install-recommends" not in command:
        found.append("apt-get install without --no-install-recommends")
    if "rm -rf /var/lib/apt/lists" not in run:
        found.append("apt's lists stay in the layer")
    return found


def apt_packages(command: str) -> list[str]:
    """Return the packages of one apt-get install command."""
    words = command.split()
    after = words[words.index("install") + 1 :]
    return [word for word in after if not word.startswith("-")]


def _pip(command: str) -> list[str]:
    if "--require-hashes" in command or "--no-index" in command:
        return []
    return [f"pip without hashes: {command.strip()}"]


def _secrets(stage: Stage) -> list[str]:
    found = []
    for keyword, rest in stage.steps:
        if keyword in ("ENV", "ARG"):
            names = re.findall(r"(\w+)(?==|$)", rest)
            found += [
                f"{keyword} {name} looks like a secret" for name in names if SECRET.search(name)
            ]
        if URL_WITH_LOGIN.search(rest):
            found.append(f"{keyword} holds an address with a login")
        if INDEX.search(rest):
            found.append(f"{keyword} names a package index")
    return found


def _last(stages: list[Stage]) -> list[str]:
    chain = last_chain(stages)
    users = [rest for stage in chain for rest in stage.all("USER")]
    found = []
    if not users or users[-1].partition(":")[0] in ("root", "0"):
        found.append("the last stage runs as root")
    installs = [
        command
        for stage in chain
        for run in stage.all("RUN")
        for command in re.split(r"&&|;", run)
        if "apt-get" in command and " install " in command
    ]
    names = [name.partition("=")[0] for command in installs for name in apt_packages(command)]
    return found + [f"the last stage has a compiler: {n}" for n in names if COMPILERS.match(n)]


def exec_form(rest: str | None) -> list[str] | None:
    """Return the words of an instruction in exec form, None where it is not."""
    try:
        words = json.loads(rest or "null")
    except json.JSONDecodeError:
        return None
    return words if isinstance(words, list) else None
