"""The explorer of a page: its controls, and where its script writes what follows from them."""

from __future__ import annotations

from scipy.stats import norm

from ..._utils.html import Html, escape
from ..inspect.summary import anova_order, spaced
from .contents import About, Control, Predictions

__all__ = ["explorer_data", "explorer_html"]

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
MOST_ROWS = 500


def explorer_data(predictions: Predictions, about: About) -> dict:
    """What the script is told beside the model."""
    model = predictions.model
    order = anova_order(model.dirs[model.selected], model.cuts[model.selected])
    if predictions.controls.inputs.offset is not None:
        order = [*order, model.n_terms]
    rows = about.new.controls if about.new is not None else None
    return predictions.controls.to_dict() | {
        "classes": None if about.classes is None else list(about.classes),
        "threshold": about.threshold,
        "order": [int(t) for t in order],
        "quantiles": {f"{level:g}": norm.ppf(1 - (1 - level) / 2) for level in _levels(about)},
        "rows": [] if rows is None else rows[:MOST_ROWS].tolist(),
    }


def explorer_html(predictions: Predictions, about: About) -> Html:
    """The controls on one side, the prediction and what it is made of on the other."""
    controls = predictions.controls
    used = [_control(k, controls.controls[k]) for k in controls.used]
    idle = [c.name for c in controls.controls if not c.used]
    not_used = (
        f'<p class="how">Without effect in this model: {escape(", ".join(idle))}.</p>'
        if idle
        else ""
    )
    note = _ranges_note(predictions)
    none = "" if used else "<p>The model is its intercept alone: nothing moves it.</p>"
    return Html(
        '<noscript><p class="how">The explorer needs JavaScript, which is switched off here.</p></noscript>'
        f'<div id="explorer" class="explorer" hidden><form id="controls" autocomplete="off">{_tools(about)}'
        f'{none}<div class="controls">{"".join(used)}</div>{not_used}{note}</form>'
        f"{_results(predictions, about)}</div>"
    )


def _ranges_note(predictions: Predictions) -> str:
    """What a reader has to know of sliders that are not those of columns at the training rows."""
    controls = predictions.controls.controls
    said = ""
    if not {c.name for c in controls} <= set(predictions.model.raw_names):
        said = (
            "The formula computes with the columns of the data. Here its computed columns move, each by "
            "itself."
        )
    elif any(c.used and not c.known for c in controls):
        said = (
            "The file of the model does not know the range of its training rows; the sliders go a little "
            "beyond the knots, or over the rows that were given."
        )
    return f'<p class="how">{said}</p>' if said else ""


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


def _control(k: int, control: Control) -> str:
    name = escape(control.name)
    if control.levels:
        options = "".join(
            f'<option value="{c}">{escape(level) or "(empty)"}</option>'
            for c, level in enumerate(control.levels)
        )
        return (
            f'<div class="control"><label for="list{k}">{name}</label><div class="inputs">'
            f'<select id="list{k}">{options}</select></div></div>'
        )
    curve = (
        '<svg viewBox="0 0 200 44" preserveAspectRatio="none" aria-hidden="true"><polyline class="line0" '
        f'id="curve{k}" vector-effect="non-scaling-stroke"/><path class="here" id="here{k}" '
        'vector-effect="non-scaling-stroke"/></svg>'
        if control.high > control.low
        else ""
    )
    low, high = repr(control.low), repr(control.high)
    slider = (
        f'<input type="range" id="range{k}" min="{low}" max="{high}" step="any" aria-label="{name}, slider">'
        if control.high > control.low
        else ""
    )
    return (
        f'<div class="control"><label for="number{k}">{name}</label><div class="inputs">'
        f'<input type="number" id="number{k}" step="any">{slider}</div>{curve}'
        f'<div class="ends"><span>{control.low:.4g}</span><span>{control.high:.4g}</span></div></div>'
    )


def _results(predictions: Predictions, about: About) -> str:
    model = predictions.model
    single = len(predictions.names) == 1
    chooser = ""
    if not single:
        what = "Class" if about.classes is not None else "Response"
        options = "".join(
            f'<option value="{k}">{escape(name)}</option>'
            for k, name in enumerate(predictions.names)
        )
        chooser = (
            f'<div class="tools"><span><label for="response">{what}</label> '
            f'<select id="response">{options}</select></span></div>'
        )
    label = "Prediction" if about.classes is None else "Probability"
    if single:
        label = f"{predictions.label.capitalize()} {escape(predictions.names[0])}"
    said = '<p id="class"></p>' if about.classes is not None else ""
    return (
        f'<div class="results" id="results"><div class="headline">{chooser}<h3 id="told">{label}</h3>'
        '<p class="prediction"><output id="prediction" aria-live="polite" aria-labelledby="told">'
        "</output></p>"
        f'{said}{_interval(model, about)}<p class="warning" id="warning" role="status"></p></div>'
        f'<div class="made">{_shares(about)}{_contributions(predictions)}</div></div>'
    )


def _shares(about: About) -> str:
    if about.classes is None:
        return ""
    rows = "".join(
        f'<tr><th scope="row">{escape(name)}</th><td class="number" id="share{c}"></td>'
        f'<td><div class="bar"><i id="sharebar{c}"></i></div></td></tr>'
        for c, name in enumerate(about.classes)
    )
    return f'<table class="shares" aria-label="Probabilities"><tbody>{rows}</tbody></table>'


def _interval(model, about: About) -> str:
    if model.varmod is None or about.classes is not None:
        return ""
    levels = "".join(
        f'<option value="{level:g}"{" selected" if level == about.level else ""}>{100 * level:g} %</option>'
        for level in _levels(about)
    )
    around = (
        ' <span class="how">around the least-squares fit of the terms, <span id="fit"></span></span>'
        if model.glm is not None
        else ""
    )
    return (
        '<div class="tools"><span><label for="level">Interval</label> '
        f'<select id="level">{levels}</select></span><span><label for="kind">of</label> '
        '<select id="kind"><option value="prediction">a new observation</option>'
        '<option value="confidence">the mean, terms given</option></select></span></div>'
        f'<p><output id="interval" aria-label="Interval"></output>{around}</p>'
    )


def _contributions(predictions: Predictions) -> str:
    model = predictions.model
    names = [spaced(name) for name in model.selected_names]
    if predictions.controls.inputs.offset is not None:
        names.append("offset")
    order = anova_order(model.dirs[model.selected], model.cuts[model.selected])
    order = [*order, *range(model.n_terms, len(names))]
    rows = "".join(
        f'<tr id="term{t}"><th scope="row">{escape(names[t])}</th><td class="number" id="added{t}"></td>'
        f'<td><div class="bar"><i id="bar{t}"></i></div></td></tr>'
        for t in order
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
