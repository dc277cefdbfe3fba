"""Self-contained HTML report of a fitted model."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib.resources import files
from string import Template

import numpy as np
import pandas as pd
from scipy.stats import norm

from ..._utils.html import Html, element, escape, note, number, table, text_block
from ..._version import __version__
from ...exceptions import InvalidInputError
from ..components.terms import nominal_df
from ..export.javascript import javascript_means
from ..inspect.importance import importance_table
from ..inspect.summary import anova_order, spaced, terms_html
from .charts import Line, Part, Points, bars, chart, effects_html, legend
from .contents import About, Control, Controls, Predictions, Rows
from .equation import equation_html, words_html
from .r_code import r_code

SCRIPTS = ("model.js", "explorer.js", "start.js")
MOST_POINTS = 1500
MOST_BARS = 25
BINS = 10
NO_ROWS = (
    "This needs the training rows, which a model from a file does not have; "
    "report(X=..., y=...), or --data on the command line, draws it for other rows."
)


def page_html(model, about: About) -> str:
    """Return the page of a `MarsModel`.

    Names, levels and all other content from data or files are escaped. The content security policy of the
    page blocks external resources, and allows only the page's own script, by its hash.
    """
    what = f"model of {', '.join(model.response_names)}"
    if about.classes is not None:
        what = f"classifier: {', '.join(about.classes)}"
    title = about.title or f"MARS {what}"
    predictions, why_not = _predictions(model, about)
    parts = _parts(model, about, predictions, why_not)
    page = None if predictions is None else explorer_data(predictions, about)
    sections = "\n".join(
        f'<section id="{name}" aria-labelledby="{name}-head"><h2 id="{name}-head">{escape(head)}</h2>\n'
        f"{inner}\n</section>"
        for name, head, inner in parts
    )
    return Template(_text("page.html")).substitute(
        policy=_policy(),
        version=__version__,
        title=escape(title),
        style=_text("page.css"),
        facts=_facts(model, about),
        contents="".join(f'<li><a href="#{name}">{escape(h)}</a></li>' for name, h, _ in parts),
        body=sections,
        model=_inert(about.file or model.to_json()),
        page=_inert(json.dumps(page, allow_nan=False)),
        script=_script(),
    )


def _parts(model, about: About, predictions: Predictions | None, why_not: str):
    """Name, heading and content of each section."""
    if predictions is None:
        explored = effects = note(why_not)
        names = model.response_names
    else:
        explored = explorer_html(predictions, about)
        effects = effects_html(predictions, about.level, dict(about.rugs))
        names = predictions.names
    of_rows = [("rows", "On the training rows", _rows_section(model, about, names, about.training))]
    if about.new is not None:
        new = _rows_section(model, about, names, about.new)
        of_rows.append(("new", about.new.called, new))
    return [
        ("explore", "Explore", explored),
        ("equation", "The equation", _equation(model, about)),
        ("effects", "Effects", effects),
        ("importance", "Importance", _importance(model, about)),
        ("selection", "Model selection", _selection(model, about)),
        ("cross-validation", "Cross-validation", _cross_validation(model, about)),
        *of_rows,
        ("df", "Degrees of freedom", _degrees_of_freedom(model, about)),
        ("r", "The same model in R", _in_r(model, about)),
        ("versions", "Versions", _versions(model, about)),
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
    return "\n" + javascript_means() + "".join(_text(name) for name in SCRIPTS)


@cache
def _policy() -> str:
    digest = base64.b64encode(hashlib.sha256(_script().encode()).digest()).decode()
    allowed = f"style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def _inert(text: str) -> str:
    """JSON that neither opens nor closes an HTML element."""
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _facts(model, about: About) -> Html:
    entries = [
        ("terms", f"{model.n_terms} of {len(model.dirs)}"),
        ("predictors", f"{len(model.used_features())} of {len(model.feature_names)}"),
        ("rows", f"{model.n_samples:,}".replace(",", " ")),
        ("RSq", number(model.rsq, 4)),
        ("GRSq", number(model.grsq, 4)),
        ("GCV", number(model.gcv, 5)),
        ("nominal df", number(model.nominal_df, 4)),
    ]
    if model.selection is not None:
        entries[-1] = ("measured df", number(float(model.selection.df.mean()), 4))
    if model.is_merged:
        entries[0] = ("terms", f"{model.n_terms}, of {model.selection.n_models} models")
    if model.glm is not None:
        shares = ", ".join(number(v, 3) for v in np.atleast_1d(model.glm.deviance_ratio))
        entries.insert(3, ("deviance explained", shares))
        entries.append(("family, link", f"{model.glm.family}, {model.glm.link}"))
    if about.cv is not None and "rsq" in about.cv:
        entries.append(("RSq, cross-validated", number(float(about.cv["rsq"].iloc[-1]), 4)))
    each = "".join(f"<div><dt>{escape(n)}</dt><dd>{escape(v)}</dd></div>" for n, v in entries)
    return Html(f'<dl class="facts">{each}</dl>')


def _equation(model, about: About) -> Html:
    """Equation in words, as MathML, and as a table with plots of the hinges."""
    several = about.classes is not None and len(about.classes) > 2
    divided = note("The probabilities of the classes are divided by their sum.") if several else ""
    return Html(
        f"<h3>In words</h3>{words_html(model, about.classes)}"
        f"<h3>In mathematics</h3>{equation_html(model, about.classes)}{divided}"
        f"<h3>Term by term</h3>{_scrolled(terms_html(model), 'Terms')}"
    )


def _importance(model, about: About) -> Html:
    try:
        found = (_spreads if model.is_merged else _criteria)(importance_table(model))
    except InvalidInputError as error:
        found = note(str(error))
    if about.anova is None or not len(about.anova):
        return Html(found)
    words = {"sd": "sd of what it adds", "gcv": "GCV without it"}
    rows = [
        [name, *(number(v, 5) if isinstance(v, float) else str(v) for v in row)]
        for name, row in zip(about.anova.index, about.anova.itertuples(index=False), strict=True)
    ]
    groups = table(["predictors", *(words.get(c, str(c)) for c in about.anova.columns)], rows)
    added = f"{found}<h3>What each group of terms adds</h3>{_scrolled(groups, 'Anova')}"
    if model.is_merged:
        return Html(added)
    return Html(added + note(f"The GCV of the whole model is {model.gcv:.5g}."))


def _criteria(found: pd.DataFrame) -> str:
    if found.empty:
        return note("The model is its intercept alone: no predictor matters.")
    shown = found.head(MOST_BARS)
    marks = [number(v, 3) for v in shown["gcv"]]
    names = [str(n) + ("" if u else " (unused)") for n, u in shown["used"].items()]
    picture = bars(names, shown["gcv"].tolist(), "importance of the predictors", marks)
    rows = [
        [name, row.nsubsets, number(row.gcv, 4), number(row.rss, 4), "yes" if row.used else "no"]
        for name, row in zip(found.index, found.itertuples(), strict=True)
    ]
    return (
        f"<figure>{picture}<figcaption>Gain in GCV along the pruning pass, square roots, the largest being "
        "100. As in R's evimp the predictors are ordered by the subsets that use them.</figcaption></figure>"
        + _scrolled(table(["predictor", "nsubsets", "gcv", "rss", "used"], rows), "Importance")
    )


def _spreads(found: pd.DataFrame) -> str:
    if found.empty:
        return note("The model is its intercept alone: no predictor matters.")
    shown = found.head(MOST_BARS)
    marks = [number(v, 3) for v in shown["sd"]]
    picture = bars(list(shown.index), shown["sd"].tolist(), "importance of the predictors", marks)
    return (
        f"<figure>{picture}<figcaption>Standard deviation, at the training rows, of what the terms of each "
        "predictor add.</figcaption></figure>"
    )


def _selection(model, about: About) -> Html:
    if model.is_merged:
        return note(
            f"The model is the mean of {model.selection.n_models} models, each of a size that measured "
            "degrees of freedom chose; it has no pruning pass of its own."
        )
    if model.prune_terms.size == 0 or len(model.rss_per_subset) < 2:
        return note("The model has no record of its pruning pass.")
    rsq, grsq = _gain(model.rss_per_subset), _gain(model.gcv_per_subset)
    sizes = np.arange(1, len(rsq) + 1)
    low = max(float(np.nanmin(grsq[np.isfinite(grsq)])), -0.2) if np.isfinite(grsq).any() else 0.0
    lines = [
        Line(sizes, rsq, colour=1, is_dashed=True),
        Line(sizes, np.where(grsq >= low, grsq, np.nan)),
    ]
    said = f"GRSq and RSq against the number of terms; {model.n_terms} were chosen"
    picture = chart(lines, "number of terms", "GRSq and RSq", said, marked=model.n_terms)
    keys = legend([("line0", "GRSq"), ("line1", "RSq")])
    return Html(
        f"<figure>{picture}{keys}<figcaption>The best model of each size; {model.n_terms} terms were "
        f"chosen by pmethod {escape(repr(model.pmethod))}, penalty {model.penalty:.4g}.</figcaption></figure>"
    )


def _cross_validation(model, about: About) -> Html:
    """R's table, with one row per fold."""
    if about.cv is None:
        return note("The model was fitted without cross-validation (nfold).")
    frame = about.cv if len(about.cv) <= 31 else about.cv.iloc[[*range(30), -1]]
    rows = [
        [str(name), *(number(float(v), 4) for v in row)]
        for name, row in zip(frame.index, frame.to_numpy(), strict=True)
    ]
    left = len(about.cv) - len(frame)
    more = note(f"{left} more folds are left out.") if left else ""
    return Html(_scrolled(table(["fold", *frame.columns], rows), "Cross-validation") + more)


def _rows_section(model, about: About, names, rows: Rows | None) -> Html:
    if rows is None:
        return note(NO_ROWS)
    parts: list[str] = []
    if rows is about.training:
        parts.append(note("The model has seen these rows: on new ones it is less good."))
    if rows.outside:
        parts.append(
            note(f"{rows.outside} of {len(rows.predicted)} rows are outside of the training range.")
        )
    if rows.observed is None:
        parts.append(note("The observed responses are not in the data, so nothing is compared."))
        parts.append(_first_predictions(names, rows))
    elif about.classes is not None:
        parts.append(_class_scores(rows))
        parts.append(_calibrations(names, rows))
    else:
        parts.append(_scores(names, rows))
        parts.append(_residuals(names, rows))
    return Html("".join(parts))


def _degrees_of_freedom(model, about: About) -> Html:
    """Nominal degrees of freedom of MARS and, if available, those measured for its search."""
    if model.is_merged:
        return Html(_measured_df(model))
    r, c = model.n_terms, model.penalty
    counted = (
        f"<p>MARS counts <b>{model.nominal_df:.4g}</b> nominal degrees of freedom for this model: {r} terms, "
        f"and {c:.4g} for each of (r − 1)/2 = {(r - 1) / 2:g} knots.</p>"
    )
    if c < 0:
        counted = "<p>A negative penalty makes terms and knots free: MARS counts 0 nominal df.</p>"
    if about.df is None:
        return Html(
            counted
            + note(
                "What the search really uses was not measured: report(df=correct_penalty(X)), or --df on the "
                "command line, shows it."
            )
        )
    shown: str = _scrolled(about.df._html_body(), "Degrees of freedom")
    if getattr(about.df, "size", None) == r:
        counted += (
            f"<p>The search for them really uses <b>{about.df.df:.4g}</b> degrees of freedom, and the "
            "number of terms was chosen by what each number uses.</p>"
        )
    corrected = getattr(about.df, "penalty", None)
    if isinstance(corrected, float):
        counted += (
            f"<p>With the corrected penalty of {corrected:.4g} it would be "
            f"<b>{float(nominal_df(r, corrected)):.4g}</b>.</p>"
        )
        shown += note(
            "Measured on noise for the whole forward pass, from which pruning takes terms."
        )
    return Html(f"{counted}<h3>{escape(about.df._html_title())}</h3>{shown}")


def _measured_df(model) -> str:
    part = model.selection
    rows = [
        [name, f"{df:.4g} ± {se:.2g}", "" if np.isnan(error) else number(error, 5)]
        for name, df, se, error in zip(
            model.response_names, part.df, part.df_se, part.prediction_error, strict=True
        )
    ]
    heads = ["response", "measured df", "prediction error (SURE)"]
    return _scrolled(table(heads, rows), "Degrees of freedom") + note(
        f"The mean of {part.n_models} models has degrees of freedom of its own, measured by the noise that "
        "was added to the response of each model."
    )


def _in_r(model, about: About) -> Html:
    if model.is_merged:
        return Html(
            note(
                "R's earth has no mean of several models. SQL, Python and JavaScript of this model: "
                "to_sql, to_python and to_javascript."
            )
        )
    return Html(text_block(r_code(model, about)).replace("<pre ", '<pre tabindex="0" '))


def _versions(model, about: About) -> Html:
    known = {**model.versions, **about.versions}
    rows = [[name, value] for name, value in known.items()]
    return Html(
        f"<p>Fitted by the engine “{escape(model.engine)}”.</p>"
        + table(["", "version"], rows, left=2)
    )


def _scrolled(inner: str, said: str) -> Html:
    return Html(
        f'<div class="scroll" tabindex="0" role="group" aria-label="{escape(said)}">{inner}</div>'
    )


def _gain(per_subset) -> np.ndarray:
    values = np.asarray(per_subset, dtype=float)
    with np.errstate(all="ignore"):
        return 1 - values / values[0]


def _first_predictions(names, rows: Rows) -> str:
    shown = rows.predicted[:20]
    lines = [[str(k + 1), *(number(v, 5) for v in row)] for k, row in enumerate(shown)]
    return _scrolled(table(["row", *map(str, names)], lines), "Predictions") + (
        note(f"The first {len(shown)} of {len(rows.predicted)} rows.")
        if len(shown) < len(rows.predicted)
        else ""
    )


def _scores(names, rows: Rows) -> str:
    lines = []
    for k, name in enumerate(names):
        y, fit = rows.observed[:, k], rows.predicted[:, k]  # type: ignore[index]
        rss, total = float(((y - fit) ** 2).sum()), float(((y - y.mean()) ** 2).sum())
        rsq = 1 - rss / total if total > 0 else float("nan")
        mean = float(np.abs(y - fit).mean())
        lines.append([name, number(rsq, 4), number((rss / len(y)) ** 0.5, 5), number(mean, 5)])
    titles = ["RSq", "root mean square error", "mean absolute error"]
    return _scrolled(table([f"{len(rows.predicted)} rows", *titles], lines), "Scores")


def _residuals(names, rows: Rows) -> str:
    drawn, some = [], _some(len(rows.predicted))
    for k, name in enumerate(names):
        y, fit = rows.observed[some, k], rows.predicted[some, k]  # type: ignore[index]
        ends = [min(y.min(), fit.min()), max(y.max(), fit.max())]
        across, observed = f"predicted {name}", f"observed {name}"
        parts: list[Part] = [Line(ends, ends, colour=1, is_dashed=True), Points(fit, y)]
        drawn.append(chart(parts, across, observed, f"observed against {across}"))
        zero = Line([fit.min(), fit.max()], [0, 0], colour=1, is_dashed=True)
        said = f"residuals against {across}"
        drawn.append(chart([zero, Points(fit, y - fit)], across, "residual", said))
    n = len(rows.predicted)
    more = note(f"{MOST_POINTS} of {n} rows are drawn.") if n > MOST_POINTS else ""
    return _charts(drawn) + more


def _charts(drawn: list[Html]) -> str:
    return f'<div class="charts">{"".join(f"<figure>{d}</figure>" for d in drawn)}</div>'


def _class_scores(rows: Rows) -> str:
    y, p = rows.observed, rows.predicted
    assert y is not None  # required for a comparison
    if y.shape[1] == 1:
        y, p = np.column_stack([1 - y, y]), np.column_stack([1 - p, p])
    loss = float(-np.log(np.clip((p * y).sum(axis=1), 1e-15, 1.0)).mean())
    right = "" if rows.chosen is None else number(float(np.mean(rows.chosen)), 4)
    brier = float(((p - y) ** 2).sum(axis=1).mean())
    titles = ["", "share of right classes", "log loss", "Brier score"]
    found = table(titles, [[f"{len(y)} rows", right, number(loss, 4), number(brier, 4)]])
    return _scrolled(found, "Scores")


def _calibrations(names, rows: Rows) -> str:
    from ...plots.classification import calibration_groups

    drawn = []
    for k, name in enumerate(names):
        p, y = rows.predicted[:, k], rows.observed[:, k]  # type: ignore[index]
        x, share, low, high = calibration_groups(p, y, BINS)
        parts: list[Part] = [
            Line([0, 1], [0, 1], colour=1, is_dashed=True),
            Points(x, share, size=4, low=low, high=high),
        ]
        across = f"predicted probability of {name}"
        said = f"share of {name} observed against its predicted probability"
        drawn.append(chart(parts, across, "share observed", said, x=(0.0, 1.0), y=(0.0, 1.0)))
    return f"<h3>Calibration</h3>{_charts(drawn)}" + note(
        f"Rows in at most {BINS} groups of similar probability; the bars are 95 % intervals of Wilson. "
        "On the dashed line a probability of 0.3 comes true in 3 of 10 rows."
    )


def _some(n: int) -> np.ndarray:
    return np.arange(n) if n <= MOST_POINTS else np.linspace(0, n - 1, MOST_POINTS).astype(int)


LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
MOST_ROWS = 500


def explorer_data(predictions: Predictions, about: About) -> dict:
    """Data for the script in addition to the model."""
    rows = about.new.controls if about.new is not None else None
    return predictions.controls.to_dict() | {
        "classes": None if about.classes is None else list(about.classes),
        "threshold": about.threshold,
        "order": _order(predictions),
        "quantiles": {f"{level:g}": norm.ppf(1 - (1 - level) / 2) for level in _levels(about)},
        "rows": []
        if rows is None
        else [[None if v != v else v for v in row] for row in rows[:MOST_ROWS].tolist()],
    }


def explorer_html(predictions: Predictions, about: About) -> Html:
    """Return the controls, next to the prediction and its parts."""
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
    """Return a drop-down list of (value, text) pairs."""
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
    empty = ' placeholder="missing"' if control.optional else ""
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
        f'<input type="number" id="number{k}" step="any"{empty}>{slider}</div>{curve}'
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
    """Return a name with placeholders for its number and its bar."""
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
    """Positions of the terms, followed by that of an offset."""
    model = predictions.model
    order = anova_order(model.dirs[model.selected], model.cuts[model.selected])
    return order if predictions.controls.inputs.offset is None else [*order, model.n_terms]
