"""Terms of a formula: R's algebra of +, -, *, :, ^, %in% and /, and the coding of factors.

A term is a set of variables, stored as bits of an integer, as in R.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .arguments import whole_of
from .syntax import Constant, FunctionCall, Name, Node, label_of, variables_in

OPERATORS = ("+", "-", "*", ":", "^", "%in%", "/", "(")
# Coding of a factor in a term: without its first level, or with all levels.
CONTRASTS, DUMMIES = 1, 2


@dataclass(frozen=True)
class Terms:
    """Variables in R's order, the response first, and terms in the order of their degree."""

    variables: tuple[Node, ...]
    terms: tuple[tuple[int, ...], ...]  # positions of their variables
    offsets: tuple[int, ...]  # positions of offset variables
    intercept: bool  # False if the formula removes it

    def coding(self, is_factor: Sequence[bool], skipped: int | None) -> list[dict[int, int]]:
        """Return each term's variables with their coding; the term of variable `skipped` alone is empty.

        A factor has a column for each level unless the rest of the term is in the model, by itself or in an
        earlier term.
        """
        sets = [frozenset(term) for term in self.terms]
        found = []
        for k, term in enumerate(self.terms):
            rest = {v: sets[k] - {v} for v in term}
            found.append(
                {
                    v: CONTRASTS
                    if not rest[v] or any(rest[v] <= before for before in sets[:k])
                    else DUMMIES
                    for v in term
                }
            )
        if not self.intercept:
            _code_first_factor(found, is_factor, skipped)
        return [coded for coded in found if set(coded) != {skipped}]


def _code_first_factor(found, is_factor, skipped) -> None:
    """Without an intercept, the first factor in model.matrix has a column for each level."""
    for coded in found:
        if skipped in coded:
            continue
        for variable in sorted(coded):
            if is_factor[variable]:
                coded[variable] = DUMMIES
                return


def made_terms(left: Node, right: Node, columns: Sequence[str]) -> Terms:
    """Return the terms of `right`; a dot represents all columns that are not in `left`."""
    return _Algebra(left, columns).terms(right)


class _Algebra:
    def __init__(self, left: Node, columns: Sequence[str]):
        in_left = variables_in(left)
        self.dot = [Name(name) for name in columns if name not in in_left]
        self.variables: list[Node] = []
        self.places: dict[str, int] = {}
        self.intercept = True
        self.install(left)

    def install(self, node: Node) -> int:
        """Return the bit of a variable; a known variable keeps its bit."""
        key = f"{type(node).__name__} {label_of(node)}"
        if key not in self.places:
            self.places[key] = len(self.variables)
            self.variables.append(node)
        return 1 << self.places[key]

    def terms(self, right: Node) -> Terms:
        found = self.encode(right, True)
        offsets = [
            k
            for k, node in enumerate(self.variables)
            if isinstance(node, FunctionCall) and node.name == "offset"
        ]
        added = sum(1 << k for k in offsets)
        found = [term for term in found if not term & added]
        found.sort(key=int.bit_count)
        positions = tuple(
            tuple(k for k in range(len(self.variables)) if term >> k & 1) for term in found
        )
        return Terms(tuple(self.variables), positions, tuple(offsets), self.intercept)

    def encode(self, node: Node, is_added: bool) -> list[int]:
        """Return the bits of all terms. A chain such as a + b + c is traversed without recursion."""
        chain = []
        while isinstance(node, FunctionCall) and node.name in OPERATORS:
            chain.append((node, is_added))
            if node.name == "-" and len(node.args) == 1:
                is_added = not is_added
            node = node.values[0]
        found = self.leaf(node, is_added)
        for operation, added in reversed(chain):
            found = self.joined(operation, found, added)
        return found

    def leaf(self, node: Node, is_added: bool) -> list[int]:
        if isinstance(node, Constant):
            self.intercept = bool(node.value) == is_added
            return []
        if isinstance(node, Name) and node.text == ".":
            return [self.install(name) for name in self.dot]
        return [self.install(node)]

    def joined(self, node: FunctionCall, left: list[int], is_added: bool) -> list[int]:
        name = node.name
        if name == "(" or (name == "+" and len(node.args) == 1):
            return left
        if name == "-" and len(node.args) == 1:
            return []
        if name == "^":
            return _power(left, whole_of(node.values[1]))
        right = self.encode(node.values[1], is_added if name != "-" else not is_added)
        if name == "-":
            gone = set(right)
            return [term for term in left if term not in gone]
        if name == "+":
            return _distinct(left + right)
        if name in ("*", "/") and not left:
            return []  # as in R, 1 * x and 1 / x have no terms
        if name == ":":
            return _distinct([a | b for a in left for b in right])
        if name == "*":
            return _distinct(left + right + [a | b for a in left for b in right])
        together = 0
        for term in right if name == "%in%" else left:
            together |= term
        if name == "%in%":
            return _distinct([term | together for term in left])
        return _distinct(left + [term | together for term in right])


def _power(terms: list[int], exponent: int) -> list[int]:
    found = terms
    for _ in range(exponent - 1):
        more = _distinct([a | b for a in found for b in terms])
        if more == found:
            break
        found = more
    return found


def _distinct(terms: list[int]) -> list[int]:
    return list(dict.fromkeys(terms))
