"""R's words: what the text of a formula is made of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

from ...exceptions import InvalidInputError

__all__ = ["Token", "refuse", "tokens_of"]

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
    """A word: its kind and its text.

    Kinds are "number", "integer", "complex", "name", "quoted", "text", "mark" and "end"; "quoted" is a name
    between backticks, which is never a word of the language.
    """

    kind: str
    text: str


def refuse(*parts) -> NoReturn:
    """Say in one sentence why a formula is not taken."""
    raise InvalidInputError("formula is refused: " + "".join(map(str, parts)))


def tokens_of(text: str) -> list[Token]:
    """All words of a text, one of kind "end" last."""
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
