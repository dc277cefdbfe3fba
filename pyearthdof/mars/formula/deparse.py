"""A tree as R's deparse writes it: the labels of variables, and the text that R is given."""

from __future__ import annotations

import re

from ..data.columns import RESERVED
from ..inspect.summary import r_format
from .syntax import BINDING, EMPTY, PREFIXES, SPECIAL, Constant, FunctionCall, Name, Node

__all__ = ["label_of", "r_text", "short_text", "shortened"]

CUTOFF = 500  # model.frame's, for the names of its columns
TIGHT = ("/", "^", ":", "%%", "%/%", "::", ":::", "$", "@", "[", "[[")  # written without spaces
DIGITS = 15


def label_of(node: Node, between_lines: str = " ", integers: bool = False) -> str:
    """What model.frame calls a variable; a column by itself has its own name.

    Where it is so long that R breaks it, the columns of model.matrix have a new line there. The L of
    `integers` stands in the name of a response, but not in those of terms.
    """
    if isinstance(node, Name):
        return node.text
    writer = _Writer(CUTOFF, integers=integers)
    writer.write(node)
    return writer.text(between_lines)


def r_text(node: Node) -> str:
    """Text that R reads as the same tree; numbers stand as they were written."""
    writer = _Writer(None, literal=True)
    writer.write(node)
    return writer.text("")


def short_text(node: Node) -> str:
    """At most 60 characters of it, for a message."""
    writer = _Writer(None)
    writer.write(node, room=400)
    return shortened(writer.text(""))


def shortened(text: str) -> str:
    """At most 60 characters, for a message."""
    return text if len(text) <= 60 else text[:57] + "..."


class _Writer:
    """R breaks a line where it is longer than the cutoff, and goes on with four spaces for each level."""

    def __init__(self, cutoff: int | None, literal: bool = False, integers: bool = False):
        self.cutoff, self.literal, self.integers = cutoff, literal, integers
        self.lines: list[str] = []
        self.line: list[str] = []
        self.length = self.indent = 0

    def text(self, between: str) -> str:
        return between.join([*self.lines, "".join(self.line)])

    def put(self, piece: str) -> None:
        if not self.line and self.lines:
            indent = "    " * min(self.indent, 4) + "  " * max(0, self.indent - 4)
            self.line.append(indent)
            self.length += len(indent)
        self.line.append(piece)
        self.length += len(piece.encode("utf-8", "surrogatepass"))

    def break_line(self, broken: bool) -> bool:
        if self.cutoff is None or self.length <= self.cutoff:
            return broken
        if not broken:
            self.indent += 1
        self.lines.append("".join(self.line))
        self.line, self.length = [], 0
        return True

    def write(self, node: Node, room: int | None = None) -> None:
        """`room`: stop after so many characters, since more will not be shown."""
        if room is not None and self.length > room:
            return
        if node is EMPTY:
            return
        if isinstance(node, Name):
            self.put(quoted(node.text))
        elif isinstance(node, Constant):
            self.put(_constant(node, not self.literal, self.integers))
        elif node.name == "(" and len(node.args) == 1:
            self.put("(")
            self.write(node.values[0], room)
            self.put(")")
        elif _is_infix(node):
            self._infix(node, room)
        elif node.name in PREFIXES and len(node.args) == 1 and node.args[0][0] is None:
            self._prefix(node, room)
        else:
            self._call(node, room)

    def _infix(self, node: FunctionCall, room) -> None:
        """A chain such as a + b + c is nested to the left, as deep as it is long: walked, not recursed."""
        chain = []
        left: Node | None = node
        while isinstance(left, FunctionCall) and _is_infix(left):
            chain.append(left)
            inner = left.values[0]
            if isinstance(inner, FunctionCall) and _needs_brackets(left.name, inner, is_left=True):
                left = None
                self._bracketed(inner, room)
                break
            left = inner
        if left is not None:
            self.write(left, room)
        for operation in reversed(chain):
            if room is not None and self.length > room:
                return
            mark, right = operation.name, operation.values[1]
            spaced = mark not in TIGHT
            self.put(f" {mark} " if spaced else mark)
            broken = self.break_line(False) if spaced and not mark.startswith("%") else False
            if isinstance(right, FunctionCall) and _needs_brackets(mark, right, is_left=False):
                self._bracketed(right, room)
            else:
                self.write(right, room)
            if broken:
                self.indent -= 1

    def _prefix(self, node: FunctionCall, room) -> None:
        inner: Node = node
        while isinstance(inner, FunctionCall) and inner.name in PREFIXES and len(inner.args) == 1:
            self.put(inner.name)
            outer, inner = inner, inner.values[0]
        infix = inner if isinstance(inner, FunctionCall) and _is_infix(inner) else None
        if infix is not None and _binding(infix.name) < PREFIXES[outer.name]:
            self._bracketed(inner, room)
        else:
            self.write(inner, room)

    def _bracketed(self, node, room) -> None:
        self.put("(")
        self.write(node, room)
        self.put(")")

    def _call(self, node: FunctionCall, room) -> None:
        name = node.name
        if name in ("[", "[["):
            self.write(node.values[0], room)
            self.put(name)
            self._arguments(node.args[1:], room)
            self.put("]" * len(name))
            return
        if name == "function":
            self.put("function(")
            self._arguments(node.args[:-1], room)
            self.put(") ")
            self.write(node.values[-1], room)
            return
        self.write(node.function, room)
        self.put("(")
        self._arguments(node.args, room)
        self.put(")")

    def _arguments(self, args, room) -> None:
        broken = False
        for k, (name, value) in enumerate(args):
            if k:
                self.put(", ")
            broken = self.break_line(broken)
            if name is not None:
                self.put(f"{quoted(name)} = ")
            self.write(value, room)
        if broken:
            self.indent -= 1


def _is_infix(node: FunctionCall) -> bool:
    name = node.name
    if len(node.args) != 2 or any(label is not None for label, _ in node.args):
        return False
    return name in BINDING or name in ("::", ":::", "$", "@") or bool(re.fullmatch("%[^%]*%", name))


def _binding(name: str) -> int:
    return BINDING[name][0] if name in BINDING else SPECIAL if name.startswith("%") else 20


def _needs_brackets(mark: str, inner: FunctionCall, *, is_left: bool) -> bool:
    """Where a tree was not written with brackets but reads otherwise without them: `*`(a + b, c)."""
    outer = _binding(mark)
    if inner.name in PREFIXES and len(inner.args) == 1:
        return is_left and PREFIXES[inner.name] < outer
    if not _is_infix(inner):
        return False
    to_right = BINDING.get(mark, (0, False))[1]
    own = _binding(inner.name)
    return own < outer or (own == outer and is_left == to_right)


def quoted(name: str) -> str:
    """A name as it stands in an expression."""
    if (
        re.fullmatch(r"(?:[^\W\d_]|\.(?!\d))[\w.]*", name) and name not in RESERVED
    ) or name == "...":
        return name
    escaped = name.replace("\\", "\\\\").replace("`", "\\`")
    return "`" + _escaped(escaped) + "`"


def _constant(node: Constant, as_label: bool, integers: bool) -> str:
    value = node.value
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{_escaped(escaped)}"'
    if isinstance(value, float) and as_label and node.literal[:1] in "0123456789.":
        return _number(value)
    if isinstance(value, int) and not isinstance(value, bool) and as_label:
        return f"{value}L" if integers and node.literal.endswith("L") else str(value)
    return node.literal


def _escaped(text: str) -> str:
    for mark, escape in (("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
        text = text.replace(mark, escape)
    return text


def _number(value: float) -> str:
    return r_format([value], DIGITS)[0]
