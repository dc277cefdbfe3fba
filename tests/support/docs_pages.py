"""The code blocks of a Markdown page, and what the page says that they print."""

from __future__ import annotations

import contextlib
import io
import math
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

FENCE = re.compile(r"^```(\S*)")
NUMBER = re.compile(r"\d+(?:\.\d+)?(?:e[+-]?\d+)?")
LAST_DIGITS = 1e-10  # rounding differs between machines
OUTPUT = ("", "text")  # languages of a block that shows what the one before it prints


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, first line in the file, text, and what stands before it."""

    language: str
    line: int
    text: str
    before: str


@dataclass(frozen=True)
class Example:
    """A block of code, and the output that the page shows for it; None where it shows none."""

    line: int
    code: str
    output: str | None


def blocks(text: str) -> list[Block]:
    """All fenced blocks of a page, in order.

    >>> [(b.language, b.text) for b in blocks("a\\n```python\\nx = 1\\n```\\n")]
    [('python', 'x = 1\\n')]
    """
    found: list[Block] = []
    before: list[str] = []
    inside: list[str] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if inside is None and (start := FENCE.match(line)):
            inside, language, first = [], start[1], number + 1
        elif inside is None:
            before.append(line)
        elif line.rstrip() == "```":
            found.append(Block(language, first, _lines(inside), "\n".join(before).strip()))
            inside, before = None, []
        else:
            inside.append(line)
    return found


def examples(text: str, language: str) -> list[Example]:
    """The blocks of one language, each with the output shown for it.

    An output follows its code directly, or after a paragraph that begins with "prints".

    >>> examples("```python\\nprint(1)\\n```\\n\\nprints\\n\\n```\\n1\\n```\\n", "python")
    [Example(line=2, code='print(1)\\n', output='1\\n')]
    """
    every = blocks(text)
    found = []
    for place, block in enumerate(every):
        if block.language == language:
            following = every[place + 1] if place + 1 < len(every) else None
            shown = following is not None and _is_output(following)
            found.append(Example(block.line, block.text, following.text if shown else None))
    return found


def run(example: Example, namespace: dict, page: Path) -> str:
    """Run a block in the names of the page; return what it printed."""
    # Blank lines in front make the line numbers of a traceback those of the page.
    code = compile("\n" * (example.line - 1) + example.code, str(page), "exec")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, namespace)
    return printed.getvalue()


def run_r(codes: list[str], folder: Path) -> list[str]:
    """Run blocks of R one after the other in one process; return what each printed."""
    for number, code in enumerate(codes):
        (folder / f"block{number:03d}.R").write_text(code, encoding="utf-8")
    driver = (
        'for (file in sort(list.files(".", "^block.*R$"))) {\n'
        '  source(file, echo = FALSE, print.eval = TRUE); cat("\\n@@@\\n")\n}\n'
    )
    done = subprocess.run(
        ["Rscript", "--vanilla", "-e", driver],
        cwd=folder, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"R stopped: {done.stderr}")
    return done.stdout.split("\n@@@\n")[:-1]


def same(printed: str, shown: str) -> bool:
    """Equal but for spaces at the ends of lines, empty lines at the ends and the last digits of long numbers.

    >>> same("1 \\n2\\n\\n", "1\\n2\\n"), same("1\\n2", "1 2"), same("x 1.5", "x 1.6")
    (True, False, False)
    >>> same("0.1234567890123456", "0.1234567890123459")
    True
    """
    ours, theirs = _tidy(printed), _tidy(shown)
    if NUMBER.sub("#", ours) != NUMBER.sub("#", theirs):
        return False
    pairs = zip(NUMBER.findall(ours), NUMBER.findall(theirs), strict=True)
    return all(math.isclose(float(a), float(b), rel_tol=LAST_DIGITS) for a, b in pairs)


def _tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").splitlines()).rstrip()


def _is_output(block: Block) -> bool:
    direct = block.before == ""
    announced = block.before.startswith("prints") and "\n\n" not in block.before
    return block.language in OUTPUT and (direct or announced)


def _lines(lines: list[str]) -> str:
    return "".join(line + "\n" for line in lines)
