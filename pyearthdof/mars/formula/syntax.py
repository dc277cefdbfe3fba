"""R's grammar: the text of a formula as a tree of names, constants and calls. Nothing is evaluated."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NoReturn

from .tokens import Token, refuse, tokens_of

__all__ = [
    "EMPTY",
    "Constant",
    "FunctionCall",
    "Name",
    "Node",
    "gaps_in",
    "parsed_formula",
    "variables_in",
]

MAX_CHARACTERS = 50_000
MAX_BRACKETS = 50  # R's parser has room for no more inside each other
MAX_NESTING = 150  # of what is no bracket, such as a chain of ^
KEYWORDS = ("function", "if", "else", "while", "for", "repeat", "next", "break", "in")
VALUES = {
    "TRUE": True, "FALSE": False, "NULL": None, "Inf": float("inf"), "NaN": float("nan"),
    "NA": float("nan"), "NA_integer_": float("nan"), "NA_real_": float("nan"),
    "NA_character_": float("nan"), "NA_complex_": float("nan"),
}  # fmt: skip
# How tightly a mark binds, and whether to the right; R's table, from loose to tight.
BINDING = {
    "?": (1, False), "<-": (4, True), "<<-": (4, True), ":=": (4, True), "=": (3, True), "->": (5, False),
    "->>": (5, False), "~": (6, False), "|": (7, False), "||": (7, False), "&": (8, False),
    "&&": (8, False), "==": (10, False), "!=": (10, False), "<": (10, False), ">": (10, False),
    "<=": (10, False), ">=": (10, False), "+": (11, False), "-": (11, False), "*": (12, False),
    "/": (12, False), "|>": (13, False), ":": (14, False), "^": (16, True), "**": (16, True),
}  # fmt: skip
COMPARISONS = ("==", "!=", "<", ">", "<=", ">=")
# What may be called with its package, as in splines::bs.
PACKAGES = {
    "splines": ("bs", "ns"),
    "stats": ("median", "poly", "quantile", "relevel", "sd", "var"),
    "base": (
        "I", "abs", "as.factor", "as.integer", "as.numeric", "as.ordered", "c", "cbind", "ceiling",
        "cos", "cut", "exp", "factor", "floor", "ifelse", "interaction", "is.na", "log", "log10",
        "log1p", "log2", "max", "mean", "min", "ordered", "pmax", "pmin", "range", "rep", "rev",
        "round", "scale", "seq", "seq_len", "sign", "sin", "sqrt", "sum", "tan", "trunc",
    ),
}  # fmt: skip
PREFIXES = {"-": 15, "+": 15, "!": 9, "~": 6, "?": 1}
SPECIAL, LOW = 13, 2


Value = float | int | bool | str | complex | None


@dataclass(frozen=True)
class Name:
    """A symbol."""

    text: str


@dataclass(frozen=True)
class Constant:
    """A number, a truth value, a text, or None for NULL; `literal` is how it was written."""

    value: Value
    literal: str


@dataclass(frozen=True)
class FunctionCall:
    """A function and its arguments, each with its name or None; an empty argument is EMPTY."""

    function: Node
    args: tuple[tuple[str | None, Node], ...]

    @property
    def name(self) -> str:
        """The function's name, without its package; empty where it is not called by one."""
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
EMPTY = Name("")  # an argument that is left out; no other symbol is without a letter, as in R


def parsed_formula(text: str) -> tuple[Node, Node]:
    """The left and the right side of a formula."""
    # fewer characters than bytes: the limit is R's side's, which counts bytes
    if len(text.encode("utf-8", "surrogatepass")) > MAX_CHARACTERS:
        refuse("it is longer than ", MAX_CHARACTERS, " characters")
    expressions = _Parser(tokens_of(text)).expressions()
    if len(expressions) != 1:
        refuse("it holds ", len(expressions), " expressions where one should be")
    formula = expressions[0]
    if not isinstance(formula, FunctionCall) or formula.name != "~" or len(formula.args) != 2:
        from .deparse import short_text

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
    """Names of the columns in which is.na or na.rm deals with missing values."""
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
    return FunctionCall(Name(name), tuple((None, value) for value in values))


class _Parser:
    """By the binding of marks: an operand, then all marks that bind tighter than what stands before it."""

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
            if self.open and self.open[-1] != "{":
                self.skip_lines()
            mark = self.peek().text if self.peek().kind == "mark" else ""
            binding, to_right = BINDING.get(mark, (SPECIAL if mark.startswith("%") else -1, False))
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
        """What stands before the next mark; signs before it are gathered in a loop, they can be thousands."""
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
        """A piece of a program: read only so that it can be refused by its name."""
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
