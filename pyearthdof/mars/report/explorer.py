"""The explorer of a page: its controls, and where its script writes what follows from them."""

from __future__ import annotations

from scipy.stats import norm

from ..._utils.html import Html, element, escape
from ..inspect.summary import anova_order, spaced
from .contents import About, Control, Predictions

__all__ = ["explorer_data", "explorer_html"]

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
MOST_ROWS = 500


def explorer_data(predictions: Predictions, about: About) -> dict:
    """What the script is told beside the model."""
    rows = about.new.controls if about.new is not None else None
    return predictions.controls.to_dict() | {
        "classes": None if about.classes is None else list(about.classes),
        "threshold": about.threshold,
        "order": _order(predictions),
        "quantiles": {f"{level:g}": norm.ppf(1 - (1 - level) / 2) for level in _levels(about)},
        "rows": [] if rows is None else rows[:MOST_ROWS].tolist(),
    }


def explorer_html(predictions: Predictions, about: About) -> Html:
    """The controls on one side, the prediction and its parts on the other."""
    controls = predictions.controls
    used = "".join(_control(k, controls.controls[k]) for k in controls.used)
    none = "" if used else "<p>The model is its intercept alone: nothing moves it.</p>"
    idle = ", ".join(c.name for c in controls.controls if not c.used)
    notes = [f"Without effect in this model: {idle}."] if idle else []
    if not {c.name for c in controls.controls} <= set(predictions.model.raw_names):
        notes.append(
            "The formula computes with the columns of the data. Here its computed columns move, each by "
            "itself."
        )
    elif any(c.used and not c.known for c in controls.controls):
        notes.append(
            "The file of the model does not know the range of its training rows; the sliders go a little "
            "beyond the knots, or over the rows that were given."
        )
    said = "".join(f'<p class="how">{escape(text)}</p>' for text in notes)
    return Html(
        '<noscript><p class="how">The explorer needs JavaScript, which is switched off here.</p></noscript>'
        f'<div id="explorer" class="explorer" hidden><form id="controls" autocomplete="off">{_tools(about)}'
        f'{none}<div class="controls">{used}</div>{said}</form>{_results(predictions, about)}</div>'
    )


def _levels(about: About) -> list[float]:
    return sorted({*LEVELS, about.level})


def _tools(about: About) -> str:
    row = ""
    if about.new is not None and about.new.controls is not None:
        most = min(MOST_ROWS, len(about.new.controls))
        row = (
            '<span><label for="row">Take row of the data</label> '
            f'<input id="row" type="number" min="1" max="{most}" step="1" placeholder="1 to {most}"></span>'
        )
    return f'<div class="tools"><button type="button" id="again">Typical row</button>{row}</div>'


def _select(name: str, options, chosen=None) -> Html:
    """A list of (value, text) pairs."""
    each = "".join(
        f'<option value="{value}"{" selected" if value == chosen else ""}>{escape(text)}</option>'
        for value, text in options
    )
    return element("select", each, id=name)


def _control(k: int, control: Control) -> str:
    name = escape(control.name)
    if control.levels:
        options = ((c, level or "(empty)") for c, level in enumerate(control.levels))
        return (
            f'<div class="control"><label for="list{k}">{name}</label><div class="inputs">'
            f"{_select(f'list{k}', options)}</div></div>"
        )
    curve = slider = ""
    if control.high > control.low:
        curve = (
            '<svg viewBox="0 0 200 44" preserveAspectRatio="none" aria-hidden="true"><polyline class="line0" '
            f'id="curve{k}" vector-effect="non-scaling-stroke"/><path class="here" id="here{k}" '
            'vector-effect="non-scaling-stroke"/></svg>'
        )
        slider = (
            f'<input type="range" id="range{k}" min="{control.low!r}" max="{control.high!r}" step="any" '
            f'aria-label="{name}, slider">'
        )
    return (
        f'<div class="control"><label for="number{k}">{name}</label><div class="inputs">'
        f'<input type="number" id="number{k}" step="any">{slider}</div>{curve}'
        f'<div class="ends"><span>{control.low:.4g}</span><span>{control.high:.4g}</span></div></div>'
    )


def _results(predictions: Predictions, about: About) -> str:
    is_single, is_class = len(predictions.names) == 1, about.classes is not None
    chooser = ""
    if not is_single:
        chooser = (
            f'<div class="tools"><span><label for="response">{"Class" if is_class else "Response"}</label> '
            f"{_select('response', enumerate(predictions.names))}</span></div>"
        )
    label = "Probability" if is_class else "Prediction"
    if is_single:
        label = f"{predictions.label.capitalize()} {escape(predictions.names[0])}"
    said = '<p id="class"></p>' if is_class else ""
    return (
        f'<div class="results" id="results"><div class="headline">{chooser}<h3 id="told">{label}</h3>'
        '<p class="prediction"><output id="prediction" aria-live="polite" aria-labelledby="told">'
        "</output></p>"
        f'{said}{_interval(predictions.model, about)}<p class="warning" id="warning" role="status"></p></div>'
        f'<div class="made">{_shares(about)}{_contributions(predictions)}</div></div>'
    )


def _bar_row(name: str, row: str, value: str, bar: str) -> str:
    """A name, and the places of its number and its bar."""
    return (
        f'<tr{row}><th scope="row">{escape(name)}</th><td class="number" id="{value}"></td>'
        f'<td><div class="bar"><i id="{bar}"></i></div></td></tr>'
    )


def _shares(about: About) -> str:
    if about.classes is None:
        return ""
    names = enumerate(about.classes)
    rows = "".join(_bar_row(name, "", f"share{c}", f"sharebar{c}") for c, name in names)
    return f'<table class="shares" aria-label="Probabilities"><tbody>{rows}</tbody></table>'


def _interval(model, about: About) -> str:
    if model.varmod is None or about.classes is not None:
        return ""
    levels = ((f"{level:g}", f"{100 * level:g} %") for level in _levels(about))
    around = ""
    if model.glm is not None:
        around = ' <span class="how">around the least-squares fit of the terms, <span id="fit"></span></span>'
    kinds = [("prediction", "a new observation"), ("confidence", "the mean, terms given")]
    return (
        '<div class="tools"><span><label for="level">Interval</label> '
        f"{_select('level', levels, f'{about.level:g}')}</span><span>"
        f'<label for="kind">of</label> {_select("kind", kinds)}</span></div>'
        f'<p><output id="interval" aria-label="Interval"></output>{around}</p>'
    )


def _contributions(predictions: Predictions) -> str:
    model = predictions.model
    names = [*map(spaced, model.selected_names), "offset"]
    rows = "".join(
        _bar_row(names[t], f' id="term{t}"', f"added{t}", f"bar{t}") for t in _order(predictions)
    )
    scale = (
        "" if model.glm is None else f" to the linear predictor ({escape(model.glm.link)} scale)"
    )
    return (
        '<h3 id="made">What it is made of</h3><table class="contributions" aria-labelledby="made"><thead><tr>'
        f'<th scope="col">term</th><th scope="col" class="number">adds</th><th scope="col">{scale}</th></tr>'
        f'</thead><tbody>{rows}</tbody><tfoot><tr><th scope="row">sum</th>'
        '<td class="number" id="total"></td><td></td></tr></tfoot></table>'
    )


def _order(predictions: Predictions) -> list[int]:
    """Positions of the terms, and of an offset behind them."""
    model = predictions.model
    order = anova_order(model.dirs[model.selected], model.cuts[model.selected])
    return order if predictions.controls.inputs.offset is None else [*order, model.n_terms]
