"""One HTML page of a fitted model: it needs no server, no network and no training rows."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files

from ..._utils.html import escape, note
from ..._version import __version__
from ...exceptions import InvalidInputError
from . import sections
from .about import About
from .controls import Controls
from .effects import Predictions, effects_html
from .explorer import explorer_data, explorer_html

__all__ = ["page_html"]

SCRIPTS = ("model.js", "explorer.js", "start.js")


def page_html(model, about: About) -> str:
    """The page of a `MarsModel`.

    Names, levels and whatever else comes from data or files is escaped. The one script that may run is the
    page's own: its hash is in the policy of the page, which forbids everything from outside.
    """
    what = f"model of {', '.join(model.response_names)}"
    if about.classes is not None:
        what = f"classifier: {', '.join(about.classes)}"
    title = about.title or f"MARS {what}"
    predictions, why_not = _predictions(model, about)
    parts = _parts(model, about, predictions, why_not)
    page = None if predictions is None else explorer_data(predictions, about)
    file = about.file or model.to_json()
    contents = "".join(f'<li><a href="#{name}">{escape(head)}</a></li>' for name, head, _ in parts)
    body = "\n".join(
        f'<section id="{name}" aria-labelledby="{name}-head"><h2 id="{name}-head">{escape(head)}</h2>\n'
        f"{inner}\n</section>"
        for name, head, inner in parts
    )
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_policy()}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="pyearthdof {__version__}">
<title>{escape(title)}</title>
<style>{_text("page.css")}</style>
</head>
<body>
<header>
<h1>{escape(title)}</h1>
{sections.facts(model, about)}
<nav aria-label="Contents"><ul>{contents}</ul></nav>
</header>
<main>
{body}
</main>
<footer class="how"><p>Written by pyearthdof {__version__}.
<button type="button" id="save">Save the model as JSON</button></p></footer>
<script type="application/json" id="model-json">{_inert(file)}</script>
<script type="application/json" id="page-json">{_inert(json.dumps(page, allow_nan=False))}</script>
<script>{_script()}</script>
</body>
</html>
"""


def _parts(model, about: About, predictions: Predictions | None, why_not: str):
    """Name, heading and content of each section."""
    if predictions is None:
        explored = effects = note(why_not)
        names = model.response_names
    else:
        explored = explorer_html(predictions, about)
        effects = effects_html(predictions, about.level, dict(about.rugs))
        names = predictions.names
    of_rows = [
        ("rows", "On the training rows", sections.rows_section(model, about, names, about.training))
    ]
    if about.new is not None:
        new = sections.rows_section(model, about, names, about.new)
        of_rows.append(("new", about.new.called, new))
    return [
        ("explore", "Explore", explored),
        ("equation", "The equation", sections.equation(model, about)),
        ("effects", "Effects", effects),
        ("importance", "Importance", sections.importance(model, about)),
        ("selection", "Model selection", sections.selection(model, about)),
        ("cross-validation", "Cross-validation", sections.cross_validation(model, about)),
        *of_rows,
        ("df", "Degrees of freedom", sections.degrees_of_freedom(model, about)),
        ("r", "The same model in R", sections.in_r(model, about)),
        ("versions", "Versions", sections.versions(model, about)),
    ]


def _predictions(model, about: About) -> tuple[Predictions | None, str]:
    try:
        controls = Controls.of(model)
    except InvalidInputError as error:
        return None, f"There is no explorer and there are no effects: {error}."
    if about.frame is not None:
        controls = controls.with_data(about.frame)
    return Predictions(controls, about.classes), ""


@cache
def _text(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


@cache
def _script() -> str:
    return "\n" + "".join(_text(name) for name in SCRIPTS)


@cache
def _policy() -> str:
    digest = base64.b64encode(hashlib.sha256(_script().encode()).digest()).decode()
    allowed = f"style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def _inert(text: str) -> str:
    """JSON that ends no element and begins none."""
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
