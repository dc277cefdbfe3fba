"""Parser of R formulas, and conversion of parse trees to R's text.

Nothing is evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from ..._utils.checks import refusal
from ...exceptions import InvalidInputError
from ..data.columns import RESERVED
from ..printing import r_format

NUMBER = re.compile(
    r"(0[xX][0-9a-fA-F]+(?:\.[0-9a-fA-F]*[pP][+-]?[0-9]+|[pP][+-]?[0-9]+)?"
    r"|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)([Li]?)"
)
NAME = re.compile(r"(?:[^\W\d_]|\.(?![0-9]))[\w.]*")
SPECIAL = re.compile(r"%[^%\n]*%")
SPACE = re.compile(r"(?:[ \t\f\r\u00a0]|#[^\n]*)+")
OPERATORS = (
    "->>", "<<-", ":::", "<-", "->", "<=", ">=", "==", "!=", "&&", "||", "|>", "::", ":=", "**",
    "[[", "+", "-", "*", "/", "^", "<", ">", "=", "!", "&", "|", "~", "?", ":", "$", "@", "(", ")", "{",
    "}", "[", "]", ",", ";", "\\", "\n",
)  # fmt: skip
ESCAPES = {
    "n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\\": "\\", '"': '"',
    "'": "'", "`": "`", " ": " ", "\n": "\n",
}  # fmt: skip
HEXADECIMAL = re.compile(r"x[0-9a-fA-F]{1,2}|u\{?[0-9a-fA-F]{1,4}\}?|U\{?[0-9a-fA-F]{1,8}\}?")


@dataclass(frozen=True)
class Token:
    """A token: its kind and its text.

    Kinds are "number", "integer", "complex", "name", "quoted", "text", "mark" and "end"; "quoted" is a name
    between backticks, which is never a keyword.
    """

    kind: str
    text: str


def refuse(*parts) -> NoReturn:
    """Raise an error with one sentence about a formula."""
    raise InvalidInputError("formula is refused: " + "".join(map(str, parts)))


def tokens_of(text: str) -> list[Token]:
    """Return all tokens of a text; the last has kind "end"."""
    found, at = [], 0
    while at < len(text):
        space = SPACE.match(text, at)
        if space:
            at = space.end()
            continue
        token, at = _token(text, at)
        found.append(token)
    return [*found, Token("end", "")]


def _token(text: str, at: int) -> tuple[Token, int]:
    first = text[at]
    if first in "\"'":
        return _quoted("text", text, at)
    if first == "`":
        token, end = _quoted("quoted", text, at)
        if not token.text:
            refuse("R cannot read it (a name without a letter)")
        return token, end
    if first in "rR" and re.match(r"[\"']-*[(\[{]", text[at + 1 :]):
        refuse("R cannot read it (raw texts are not taken)")
    number = NUMBER.match(text, at)
    if (number and first != ".") or (number and text[at + 1 : at + 2].isdigit()):
        kind = {"L": "integer", "i": "complex"}.get(number.group(2), "number")
        return Token(kind, number.group(1)), number.end()
    name = NAME.match(text, at)
    if name:
        return Token("name", name.group()), name.end()
    special = SPECIAL.match(text, at)
    if special:
        return Token("mark", special.group()), special.end()
    for mark in OPERATORS:
        if text.startswith(mark, at):
            return Token("mark", mark), at + len(mark)
    refuse(f"R cannot read it (unexpected {first!r})")


def _quoted(kind: str, text: str, at: int) -> tuple[Token, int]:
    mark, found, at = text[at], [], at + 1
    while at < len(text) and text[at] != mark:
        if text[at] == "\\":
            piece, at = _escape(text, at + 1)
        else:
            piece, at = text[at], at + 1
        found.append(piece)
    if at >= len(text):
        refuse("R cannot read it (a quotation mark is not closed)")
    if "\0" in found:
        refuse("R cannot read it (nul character not allowed)")
    return Token(kind, "".join(found)), at + 1


def _escape(text: str, at: int) -> tuple[str, int]:
    if text[at : at + 1] in ESCAPES:
        return ESCAPES[text[at]], at + 1
    code = HEXADECIMAL.match(text, at)
    number = int(code.group()[1:].strip("{}"), 16) if code else -1
    if code is None or not 0 < number < 0x110000 or 0xD800 <= number < 0xE000:
        refuse(f"R cannot read it (the escape \\{text[at : at + 1]} in a text)")
    return chr(number), code.end()


MAX_CHARACTERS = 50_000
MAX_BRACKETS = 50  # maximal nesting of R's parser
MAX_NESTING = 150  # nesting other than brackets, such as a chain of ^
KEYWORDS = ("function", "if", "else", "while", "for", "repeat", "next", "break", "in")
VALUES = {
    "TRUE": True, "FALSE": False, "NULL": None, "Inf": float("inf"), "NaN": float("nan"),
    "NA": float("nan"), "NA_integer_": float("nan"), "NA_real_": float("nan"),
    "NA_character_": float("nan"), "NA_complex_": float("nan"),
}  # fmt: skip
# Precedence and right associativity of operators; R's table, from loose to tight.
BINDING = {
    "?": (1, False), "<-": (4, True), "<<-": (4, True), ":=": (4, True), "=": (3, True), "->": (5, False),
    "->>": (5, False), "~": (6, False), "|": (7, False), "||": (7, False), "&": (8, False),
    "&&": (8, False), "==": (10, False), "!=": (10, False), "<": (10, False), ">": (10, False),
    "<=": (10, False), ">=": (10, False), "+": (11, False), "-": (11, False), "*": (12, False),
    "/": (12, False), "|>": (13, False), ":": (14, False), "^": (16, True), "**": (16, True),
}  # fmt: skip
COMPARISONS = ("==", "!=", "<", ">", "<=", ">=")
# Functions that may be called with their package, as in splines::bs.
PACKAGES = {
    "splines": ("bs", "ns"),
    "stats": ("median", "poly", "quantile", "relevel", "sd", "var"),
    "base": (
        "I", "abs", "as.character", "as.factor", "as.integer", "as.numeric", "as.ordered", "c", "cbind",
        "ceiling", "cos", "cut", "droplevels", "exp", "factor", "findInterval", "floor", "ifelse",
        "interaction", "is.na", "log", "log10", "log1p", "log2", "max", "mean", "min", "ordered", "pmax",
        "pmin", "range", "rep", "rev", "round", "scale", "seq", "seq_len", "sign", "sin", "sqrt", "sum",
        "tan", "trunc",
    ),
}  # fmt: skip
PREFIXES = {"-": 15, "+": 15, "!": 9, "~": 6, "?": 1}
PERCENT, LOW = 13, 2


Value = float | int | bool | str | complex | None


@dataclass(frozen=True)
class Name:
    """A symbol."""

    text: str


@dataclass(frozen=True)
class Constant:
    """A number, a boolean, a string, or None for NULL; `literal` is its source text."""

    value: Value
    literal: str


@dataclass(frozen=True)
class FunctionCall:
    """A function and its arguments, each with its name or None; an empty argument is EMPTY."""

    function: Node
    args: tuple[tuple[str | None, Node], ...]

    @property
    def name(self) -> str:
        """The function's name without its package; empty if the call is not by name."""
        if isinstance(self.function, Name):
            return self.function.text
        if isinstance(self.function, FunctionCall) and self.function.name == "::":
            package, name = self.function.values
            if isinstance(package, Name) and isinstance(name, Name):
                return name.text if name.text in PACKAGES.get(package.text, ()) else ""
        return ""

    @property
    def values(self) -> tuple[Node, ...]:
        """The arguments without their names."""
        return tuple(value for _, value in self.args)


Node = Name | Constant | FunctionCall
EMPTY = Name("")  # an omitted argument; as in R, the only empty symbol


def parsed_formula(text: str) -> tuple[Node, Node]:
    """Return the left and the right side of a formula."""
    # Fewer characters than bytes: the limit on R's side counts bytes.
    if len(text.encode("utf-8", "surrogatepass")) > MAX_CHARACTERS:
        refuse("it is longer than ", MAX_CHARACTERS, " characters")
    expressions = _Parser(tokens_of(text)).expressions()
    if len(expressions) != 1:
        refuse("it contains ", len(expressions), " expressions where one should be")
    formula = expressions[0]
    if not isinstance(formula, FunctionCall) or formula.name != "~" or len(formula.args) != 2:
        refuse(
            'it should have a response, a ~ and predictors, such as "y ~ .", not ',
            short_text(formula),
        )
    left, right = formula.values
    if left is EMPTY or right is EMPTY:
        refuse("an argument of a function is empty")
    return left, right


def variables_in(node: Node) -> set[str]:
    """Names of all columns that an expression uses."""
    return {piece.text for piece in _pieces(node) if isinstance(piece, Name) and piece is not EMPTY}


def gaps_in(node: Node) -> set[str]:
    """Return the columns whose missing values is.na or na.rm handles."""
    return {
        name
        for piece in _pieces(node)
        if isinstance(piece, FunctionCall)
        and (piece.name == "is.na" or any(label == "na.rm" for label, _ in piece.args))
        for name in variables_in(piece)
    }


def _pieces(node: Node) -> Iterator[Node]:
    pieces = [node]
    while pieces:
        piece = pieces.pop()
        yield piece
        if isinstance(piece, FunctionCall):
            pieces += piece.values


def call(name: str, *values: Node) -> FunctionCall:
    """Return a call without names of arguments."""
    return FunctionCall(Name(name), tuple((None, value) for value in values))


class _Parser:
    """Parse by precedence: an operand, then all operators that bind tighter than the preceding one."""

    def __init__(self, tokens: list[Token]):
        self.tokens, self.at = tokens, 0
        self.open: list[str] = []  # brackets
        self.depth = 0

    def expressions(self) -> list[Node]:
        found: list[Node] = []
        while True:
            while self.peek().text in ("\n", ";") and self.peek().kind == "mark":
                self.at += 1
            if self.peek().kind == "end":
                return found
            found.append(self.expression(0))
            if self.peek().kind != "end" and not self.is_mark("\n", ";"):
                self.stop()

    def peek(self) -> Token:
        return self.tokens[self.at]

    def is_mark(self, *marks: str) -> bool:
        return self.peek().kind == "mark" and self.peek().text in marks

    def is_word(self, *words: str) -> bool:
        return self.peek().kind == "name" and self.peek().text in words

    def skip_lines(self) -> None:
        while self.is_mark("\n"):
            self.at += 1

    def take(self, mark: str) -> None:
        if not self.is_mark(mark):
            self.stop()
        self.at += 1

    def stop(self) -> NoReturn:
        token = self.peek()
        what = "end of the text" if token.kind == "end" else repr(token.text[:40])
        refuse(f"R cannot read it (unexpected {what})")

    def enter(self, bracket: str) -> None:
        self.at += 1
        self.open.append(bracket)
        if len(self.open) > MAX_BRACKETS:
            refuse("R cannot read it (it is nested too deeply)")

    def leave(self, mark: str) -> None:
        self.take(mark)
        self.open.pop()

    def expression(self, least: int) -> Node:
        self.depth += 1
        if self.depth > MAX_NESTING:
            refuse("it is nested too deeply or has too many terms")
        left = self.postfixed(self.operand(least))
        while True:
            if self.in_arguments():
                self.skip_lines()
            mark = self.peek().text if self.peek().kind == "mark" else ""
            binding, to_right = BINDING.get(mark, (PERCENT if mark.startswith("%") else -1, False))
            if binding < max(least, 0) or binding == -1 or (mark == "=" and self.in_arguments()):
                break
            self.at += 1
            self.skip_lines()
            right = self.expression(binding if to_right else binding + 1)
            left = _joined(mark, left, right)
            if mark in COMPARISONS and self.is_mark(*COMPARISONS):
                self.stop()
        self.depth -= 1
        return left

    def in_arguments(self) -> bool:
        return bool(self.open) and self.open[-1] != "{"

    def operand(self, least: int) -> Node:
        """Return the operand before the next operator; a loop reads the signs before it."""
        signs = []
        while self.is_mark(*PREFIXES):
            signs.append(self.peek().text)
            self.at += 1
            self.skip_lines()
        if not signs:
            return self.primary()
        inner = self.expression(PREFIXES[signs[-1]])
        for sign in reversed(signs):
            inner = call(sign, inner)
        return inner

    def primary(self) -> Node:
        token = self.peek()
        if token.kind in ("number", "integer", "complex", "text"):
            self.at += 1
            return _constant(token)
        if token.kind == "quoted":
            self.at += 1
            return Name(token.text)
        if token.kind == "name":
            if token.text in KEYWORDS:
                return self.keyword()
            self.at += 1
            if token.text in VALUES:
                return Constant(VALUES[token.text], token.text)
            return Name(token.text)
        if self.is_mark("("):
            self.enter("(")
            self.skip_lines()
            inner = self.expression(0)
            self.skip_lines()
            self.leave(")")
            return call("(", inner)
        if self.is_mark("{"):
            return self.block()
        if self.is_mark("\\"):
            return self.keyword()
        self.stop()

    def block(self) -> Node:
        self.enter("{")
        found = []
        while not self.is_mark("}"):
            if self.is_mark("\n", ";"):
                self.at += 1
                continue
            found.append(self.expression(0))
            if not self.is_mark("\n", ";", "}"):
                self.stop()
        self.leave("}")
        return call("{", *found)

    def keyword(self) -> Node:
        """Parse a statement, only to refuse it by its name."""
        word = "function" if self.is_mark("\\") else self.peek().text
        self.at += 1
        if word == "function":
            if not self.is_mark("("):
                self.stop()
            arguments = self.arguments("(", ")")
            return FunctionCall(Name("function"), (*arguments, (None, self.expression(LOW))))
        if word in ("if", "while", "for"):
            self.take("(")
            self.open.append("(")
            head = [self.expression(0)]
            if word == "for" and self.is_word("in"):
                self.at += 1
                head.append(self.expression(0))
            self.leave(")")
            head.append(self.expression(LOW))
            if word == "if" and self.is_word("else"):
                self.at += 1
                head.append(self.expression(LOW))
            return call(word, *head)
        if word == "repeat":
            return call("repeat", self.expression(LOW))
        if word in ("next", "break"):
            return call(word)
        self.at -= 1
        self.stop()

    def postfixed(self, value: Node) -> Node:
        while self.peek().kind == "mark":
            mark = self.peek().text
            if mark == "(":
                function = value
                if isinstance(value, Constant) and isinstance(value.value, str):
                    function = Name(value.value)  # "f"(x) calls f
                value = FunctionCall(function, self.arguments("(", ")"))
            elif mark in ("[", "[["):
                value = FunctionCall(
                    Name(mark), ((None, value), *self.arguments(mark, "]", len(mark)))
                )
            elif mark in ("$", "@", "::", ":::"):
                self.at += 1
                value = call(mark, value, self.primary())
            else:
                break
        return value

    def arguments(self, opening: str, closing: str, times: int = 1):
        self.enter(opening)
        found = []
        self.skip_lines()
        while not self.is_mark(closing):
            found.append(self.argument())
            self.skip_lines()
            if self.is_mark(","):
                self.at += 1
                self.skip_lines()
                if self.is_mark(closing):
                    found.append((None, EMPTY))
            elif not self.is_mark(closing):
                self.stop()
        for _ in range(times - 1):
            self.take(closing)
        self.leave(closing)
        return tuple(found)

    def argument(self) -> tuple[str | None, Node]:
        if self.is_mark(","):
            return None, EMPTY
        token, after = self.peek(), self.tokens[self.at + 1]
        if token.kind in ("name", "quoted", "text") and (after.kind, after.text) == ("mark", "="):
            self.at += 2
            self.skip_lines()
            empty = self.is_mark(",", ")", "]")
            return token.text, EMPTY if empty else self.expression(0)
        return None, self.expression(0)


def _joined(mark: str, left: Node, right: Node) -> FunctionCall:
    if mark in ("->", "->>"):
        return call("<-" if mark == "->" else "<<-", right, left)
    return call("^" if mark == "**" else mark, left, right)


def _constant(token: Token) -> Constant:
    if token.kind == "text":
        return Constant(token.text, token.text)
    number = _number(token.text)
    if token.kind == "complex":
        return Constant(complex(0, number), token.text + "i")
    if token.kind == "integer" and number.is_integer() and abs(number) < 2**31:
        return Constant(int(number), token.text + "L")
    return Constant(number, token.text)


def _number(text: str) -> float:
    try:
        return float.fromhex(text) if text[:2] in ("0x", "0X") else float(text)
    except OverflowError:
        return float("inf")


CUTOFF = 500  # of model.frame, for the names of its columns
TIGHT = ("/", "^", ":", "%%", "%/%", "::", ":::", "$", "@", "[", "[[")  # written without spaces
DIGITS = 15


def label_of(node: Node, between_lines: str = " ", integers: bool = False) -> str:
    """Return the name of a variable in model.frame; a plain column has its own name.

    If R breaks a long name, the columns of model.matrix have a line break there. With `integers`, the L
    of an integer is kept, as in the name of a response.
    """
    if isinstance(node, Name):
        return node.text
    writer = _Writer(CUTOFF, integers=integers)
    writer.write(node)
    return writer.text(between_lines)


def r_text(node: Node) -> str:
    """Return text that R parses to the same tree; numbers keep their source text."""
    writer = _Writer(None, literal=True)
    writer.write(node)
    return writer.text("")


def short_text(node: Node) -> str:
    """Return at most 60 characters of it, for a message."""
    writer = _Writer(None)
    writer.write(node, room=400)
    return shortened(writer.text(""))


def shortened(text: str) -> str:
    """Return at most 60 characters, for a message."""
    return text if len(text) <= 60 else text[:57] + "..."


class _Writer:
    """Break lines as R does beyond the cutoff, indented by four spaces for each level."""

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
        """`room`: stop after this many characters, since the rest is not shown."""
        if room is not None and self.length > room:
            return
        if node is EMPTY:
            return
        if isinstance(node, Name):
            self.put(quoted(node.text))
        elif isinstance(node, Constant):
            self.put(_written_constant(node, not self.literal, self.integers))
        elif node.name == "(" and len(node.args) == 1:
            self._bracketed(node.values[0], room)
        elif _is_infix(node):
            self._infix(node, room)
        elif node.name in PREFIXES and len(node.args) == 1 and node.args[0][0] is None:
            self._prefix(node, room)
        else:
            self._call(node, room)

    def _infix(self, node: FunctionCall, room) -> None:
        """Write a chain such as a + b + c, nested to the left as deep as it is long, without recursion."""
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
    return BINDING[name][0] if name in BINDING else PERCENT if name.startswith("%") else 20


def _needs_brackets(mark: str, inner: FunctionCall, *, is_left: bool) -> bool:
    """Add brackets to a tree that would otherwise parse differently, such as `*`(a + b, c)."""
    outer = _binding(mark)
    if inner.name in PREFIXES and len(inner.args) == 1:
        return is_left and PREFIXES[inner.name] < outer
    if not _is_infix(inner):
        return False
    to_right = BINDING.get(mark, (0, False))[1]
    own = _binding(inner.name)
    return own < outer or (own == outer and is_left == to_right)


def quoted(name: str) -> str:
    """Return a name as written in an expression."""
    is_plain = re.fullmatch(r"(?:[^\W\d_]|\.(?!\d))[\w.]*", name) and name not in RESERVED
    if is_plain or name == "...":
        return name
    escaped = name.replace("\\", "\\\\").replace("`", "\\`")
    return "`" + _escaped(escaped) + "`"


def _written_constant(node: Constant, as_label: bool, integers: bool) -> str:
    value = node.value
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{_escaped(escaped)}"'
    if isinstance(value, float) and as_label and node.literal[:1] in "0123456789.":
        return r_format([value], DIGITS)[0]
    if isinstance(value, int) and not isinstance(value, bool) and as_label:
        return f"{value}L" if integers and node.literal.endswith("L") else str(value)
    return node.literal


def _escaped(text: str) -> str:
    for mark, escape in (("\n", "\\n"), ("\t", "\\t"), ("\r", "\\r")):
        text = text.replace(mark, escape)
    return text


def updated_formula(old: str, new: str) -> str:
    """Return the text of a new formula in which dots represent the old left and right side.

    Without a left side, it keeps the old one.

    >>> updated_formula("y ~ x + z", "log(.) ~ . - z")
    'log(y) ~ (x + z) - z'
    >>> updated_formula("y ~ x + z", "~ . - z")
    'y ~ (x + z) - z'
    """
    if not isinstance(new, str):
        raise refusal("formula", new, "text such as '. ~ . - x'")
    if new.lstrip().startswith("~"):
        new = f". {new}"
    old_sides, new_sides = parsed_formula(old), parsed_formula(new)
    left = _replaced(new_sides[0], old_sides[0])
    right = _replaced(new_sides[1], call("(", old_sides[1]))
    return f"{r_text(left)} ~ {r_text(right)}"


def _replaced(node: Node, by: Node) -> Node:
    """Traverse the left side of a sum, which is nested as deep as it is long."""
    chain = []
    while isinstance(node, FunctionCall) and node.args:
        chain.append(node)
        node = node.values[0]
    found = by if node == Name(".") else node
    for outer in reversed(chain):
        rest = tuple((label, _replaced(value, by)) for label, value in outer.args[1:])
        found = FunctionCall(outer.function, ((outer.args[0][0], found), *rest))
    return found
