"""HTML fragments for notebooks: self-contained, escaped, for light and dark themes.

Colours follow the page (`currentColor`, transparent backgrounds); the accent of drawings is legible on both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape as _escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

MOST_ROWS = 20  # rows of a table in a notebook
ACCENT = "#3b82c4"  # contrast 4 with white and 5 with black
_LINE = "1px solid rgba(128,128,128,.4)"
_CELL = "padding:2px 10px 2px 0;vertical-align:middle;white-space:nowrap;background:transparent;border:0;"


class Html(str):
    """Text that is already HTML."""

    __slots__ = ()


class ShowsItself:
    """A result displayed as HTML in notebooks, from `_html_body` and the heading `_html_title`."""

    def _html_title(self) -> str:
        return type(self).__name__

    def _html_body(self) -> str:
        return text_block(str(self))

    def _repr_html_(self) -> str:
        return box(self._html_title(), self._html_body())


class ShowsTable(ShowsItself):
    """A result displayed in notebooks as its text and rows of its table."""

    to_frame: Callable[..., pd.DataFrame]

    def _html_body(self) -> str:
        frame = self.to_frame()
        shown = few_rows(frame)
        rows = [
            [number(v) if isinstance(v, float) else v for v in row]
            for row in shown.itertuples(index=False)
        ]
        left_out = len(frame) - len(shown)
        more = note(f"{left_out} rows between are in to_frame()") if left_out else ""
        return note(repr(self)) + table(list(frame.columns), rows) + more


def few_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame, or evenly spaced rows including first and last if it is long.

    >>> import pandas as pd
    >>> few_rows(pd.DataFrame({"nk": range(101)}))["nk"].tolist()[-3:]
    [89, 94, 100]
    """
    if len(frame) <= MOST_ROWS:
        return frame
    return frame.iloc[[(len(frame) - 1) * k // (MOST_ROWS - 1) for k in range(MOST_ROWS)]]


def escape(value) -> Html:
    """Escape text for HTML; leave HTML unchanged."""
    return value if isinstance(value, Html) else Html(_escape(str(value), quote=True))


def element(name: str, content: str | None = None, /, **attributes) -> Html:
    """Return an element whose content is HTML; fractional attributes are rounded to one decimal.

    >>> element("circle", class_="dot", cx=1 / 3, r=2)
    '<circle class="dot" cx="0.3" r="2"/>'
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{f"{v:.1f}" if isinstance(v, float) else v}"'
        for key, v in attributes.items()
    )
    return Html(f"<{name}{given}/>" if content is None else f"<{name}{given}>{content}</{name}>")


def number(value, digits: int = 5) -> str:
    """Return a number with few digits; an empty string for None."""
    return "" if value is None else f"{value:.{digits}g}"


def plus_minus(value, error, digits: int = 5) -> str:
    """Return a number and its standard error, if available."""
    return number(value, digits) + (f" ± {error:.2g}" if error else "")


def box(title, *parts: str) -> Html:
    """Return a heading and the content below it."""
    head = f'<div style="font-weight:600;margin-bottom:4px">{escape(title)}</div>' if title else ""
    return Html(
        f'<div class="pyearthdof" style="color:inherit;background:transparent;border:{_LINE};'
        f'border-radius:6px;padding:8px 12px;margin:4px 0;max-width:100%;overflow-x:auto">{head}'
        f"{''.join(parts)}</div>"
    )


def note(text) -> Html:
    """Return a line in a smaller type."""
    return Html(f'<div style="font-size:90%;opacity:.8;margin-top:4px">{escape(text)}</div>')


def table(columns: Sequence, rows: Iterable[Sequence], *, left: int = 1) -> Html:
    """Return a table; the first `left` columns are text, the others numbers."""

    def cells(values, tag, more=""):
        return "".join(
            f'<{tag} style="{_CELL}{more}text-align:{"left" if k < left else "right"}">{escape(v)}</{tag}>'
            for k, v in enumerate(values)
        )

    head = cells(columns, "th", f"border-bottom:{_LINE};font-weight:600;")
    body = "".join(f'<tr style="background:transparent">{cells(row, "td")}</tr>' for row in rows)
    return Html(
        '<table style="border-collapse:collapse;border:0;color:inherit;background:transparent;margin:4px 0">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


def text_block(text) -> Html:
    """Return preformatted text."""
    return Html(
        '<pre style="margin:4px 0;color:inherit;background:transparent;white-space:pre;overflow-x:auto">'
        f"{escape(text)}</pre>"
    )


def folded(title, *parts: str) -> Html:
    """Return a heading that reveals its content on a click."""
    return Html(
        f'<details style="margin-top:6px"><summary>{escape(title)}</summary>{"".join(parts)}</details>'
    )
