"""The sections of a page, each from the model and what is known beside it."""

from __future__ import annotations

import numpy as np

from ..._utils.html import Html, escape, note, number, table, text_block
from ...exceptions import InvalidInputError
from ..components.terms import nominal_df
from ..inspect.html import terms_html
from ..inspect.importance import importance_table
from .about import About, Rows
from .drawing import Line, Points, bars, chart, legend
from .r_code import r_code
from .words import equation_html, words_html

__all__ = [
    "cross_validation", "degrees_of_freedom", "equation", "facts", "importance", "in_r", "rows_section",
    "selection", "versions",
]  # fmt: skip

MOST_POINTS = 1500
MOST_BARS = 25
BINS = 10
NO_ROWS = (
    "This needs the training rows, which a model from a file does not have; "
    "report(X=..., y=...), or --data on the command line, draws it for other rows."
)


def facts(model, about: About) -> Html:
    """The numbers that a reader asks for first."""
    entries = [
        ("terms", f"{model.n_terms} of {len(model.dirs)}"),
        ("predictors", f"{len(model.used_features())} of {len(model.feature_names)}"),
        ("rows", f"{model.n_samples:,}".replace(",", " ")),
        ("RSq", number(model.rsq, 4)),
        ("GRSq", number(model.grsq, 4)),
        ("GCV", number(model.gcv, 5)),
        ("nominal df", number(model.nominal_df, 4)),
    ]
    if model.glm is not None:
        shares = ", ".join(number(v, 3) for v in np.atleast_1d(model.glm.deviance_ratio))
        entries.insert(3, ("deviance explained", shares))
        entries.append(("family, link", f"{model.glm.family}, {model.glm.link}"))
    if about.cv is not None and "rsq" in about.cv:
        entries.append(("RSq, cross-validated", number(float(about.cv["rsq"].iloc[-1]), 4)))
    each = "".join(f"<div><dt>{escape(n)}</dt><dd>{escape(v)}</dd></div>" for n, v in entries)
    return Html(f'<dl class="facts">{each}</dl>')


def equation(model, about: About) -> Html:
    """In words, in mathematics, and as a table with the hinges drawn."""
    several = about.classes is not None and len(about.classes) > 2
    divided = note("The probabilities of the classes are divided by their sum.") if several else ""
    return Html(
        f"<h3>In words</h3>{words_html(model, about.classes)}"
        f"<h3>In mathematics</h3>{equation_html(model, about.classes)}{divided}"
        f"<h3>Term by term</h3>{scrolled(terms_html(model), 'Terms')}"
    )


def importance(model, about: About) -> Html:
    """earth's criteria, and Friedman's decomposition."""
    parts: list[str] = []
    try:
        found = importance_table(model)
    except InvalidInputError as error:
        parts.append(note(str(error)))
    else:
        if found.empty:
            parts.append(note("The model is its intercept alone: no predictor matters."))
        else:
            shown = found.head(MOST_BARS)
            marks = [number(v, 3) for v in shown["gcv"]]
            names = [str(n) + ("" if u else " (unused)") for n, u in shown["used"].items()]
            parts.append(
                f"<figure>{bars(names, shown['gcv'].tolist(), 'importance of the predictors', marks)}"
                "<figcaption>Gain in GCV along the pruning pass, square roots, the largest being 100. As in "
                "R's evimp the predictors are ordered by the subsets that use them."
                "</figcaption></figure>"
            )
            rows = [
                [
                    name,
                    row.nsubsets,
                    number(row.gcv, 4),
                    number(row.rss, 4),
                    "yes" if row.used else "no",
                ]
                for name, row in zip(found.index, found.itertuples(), strict=True)
            ]
            parts.append(
                scrolled(table(["predictor", "nsubsets", "gcv", "rss", "used"], rows), "Importance")
            )
    if about.anova is not None and len(about.anova):
        parts.append(_groups(model, about.anova))
    return Html("".join(parts))


def _groups(model, anova) -> str:
    words = {"sd": "sd of what it adds", "gcv": "GCV without it"}
    rows = [
        [name, *(number(v, 5) if isinstance(v, float) else str(v) for v in row)]
        for name, row in zip(anova.index, anova.itertuples(index=False), strict=True)
    ]
    shown = table(["predictors", *(words.get(c, str(c)) for c in anova.columns)], rows)
    return (
        "<h3>What each group of terms adds</h3>"
        + scrolled(shown, "Anova")
        + note(f"The GCV of the whole model is {model.gcv:.5g}.")
    )


def selection(model, about: About) -> Html:
    """GRSq and RSq against the number of terms."""
    if model.prune_terms.size == 0 or len(model.rss_per_subset) < 2:
        return note("The model has no record of its pruning pass.")
    rsq, grsq = _gain(model.rss_per_subset), _gain(model.gcv_per_subset)
    sizes = np.arange(1, len(rsq) + 1)
    low = max(float(np.nanmin(grsq[np.isfinite(grsq)])), -0.2) if np.isfinite(grsq).any() else 0.0
    picture = chart(
        [
            Line(sizes, rsq, colour=1, is_dashed=True),
            Line(sizes, np.where(grsq >= low, grsq, np.nan)),
        ],
        "number of terms",
        "GRSq and RSq",
        f"GRSq and RSq against the number of terms; {model.n_terms} were chosen",
        marked=model.n_terms,
    )
    keys = legend([("line0", "GRSq"), ("line1", "RSq")])
    return Html(
        f"<figure>{picture}{keys}<figcaption>The best model of each size; {model.n_terms} terms were "
        f"chosen by pmethod {escape(repr(model.pmethod))}, penalty {model.penalty:.4g}.</figcaption></figure>"
    )


def cross_validation(model, about: About) -> Html:
    """R's table, a row for each fold."""
    if about.cv is None:
        return note("The model was fitted without cross-validation (nfold).")
    frame = about.cv if len(about.cv) <= 31 else about.cv.iloc[[*range(30), -1]]
    rows = [
        [str(name), *(number(float(v), 4) for v in row)]
        for name, row in zip(frame.index, frame.to_numpy(), strict=True)
    ]
    left = len(about.cv) - len(frame)
    more = note(f"{left} more folds are left out.") if left else ""
    return Html(scrolled(table(["fold", *frame.columns], rows), "Cross-validation") + more)


def rows_section(model, about: About, names, rows: Rows | None) -> Html:
    """Predicted against observed, or calibration for a classifier."""
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


def degrees_of_freedom(model, about: About) -> Html:
    """What MARS counts, and what its search really uses where that is known."""
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
    shown: str = scrolled(about.df._html_body(), "Degrees of freedom")
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


def in_r(model, about: About) -> Html:
    """The call in R."""
    return Html(text_block(r_code(model, about)).replace("<pre ", '<pre tabindex="0" '))


def versions(model, about: About) -> Html:
    """What computed it."""
    known = {**model.versions, **about.versions}
    rows = [[name, value] for name, value in known.items()]
    return Html(
        f"<p>Fitted by the engine “{escape(model.engine)}”.</p>"
        + table(["", "version"], rows, left=2)
    )


def scrolled(inner: str, said: str) -> Html:
    """What may be wider than the page."""
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
    return scrolled(table(["row", *map(str, names)], lines), "Predictions") + (
        note(f"The first {len(shown)} of {len(rows.predicted)} rows.")
        if len(shown) < len(rows.predicted)
        else ""
    )


def _scores(names, rows: Rows) -> str:
    lines = []
    for k, name in enumerate(names):
        y, fit = rows.observed[:, k], rows.predicted[:, k]  # type: ignore[index]
        total = float(((y - y.mean()) ** 2).sum())
        rss = float(((y - fit) ** 2).sum())
        rsq = 1 - rss / total if total > 0 else float("nan")
        lines.append(
            [
                name,
                number(rsq, 4),
                number((rss / len(y)) ** 0.5, 5),
                number(float(np.abs(y - fit).mean()), 5),
            ]
        )
    found = table(
        [f"{len(rows.predicted)} rows", "RSq", "root mean square error", "mean absolute error"],
        lines,
    )
    return scrolled(found, "Scores")


def _residuals(names, rows: Rows) -> str:
    drawn = []
    some = _some(len(rows.predicted))
    for k, name in enumerate(names):
        y, fit = rows.observed[some, k], rows.predicted[some, k]  # type: ignore[index]
        ends = [min(y.min(), fit.min()), max(y.max(), fit.max())]
        drawn.append(
            chart(
                [Line(ends, ends, colour=1, is_dashed=True), Points(fit, y)],
                f"predicted {name}",
                f"observed {name}",
                f"observed against predicted {name}",
            )
        )
        drawn.append(
            chart(
                [
                    Line([fit.min(), fit.max()], [0, 0], colour=1, is_dashed=True),
                    Points(fit, y - fit),
                ],
                f"predicted {name}",
                "residual",
                f"residuals against predicted {name}",
            )
        )
    return (
        f'<div class="charts">{"".join(f"<figure>{d}</figure>" for d in drawn)}</div>'
        + _said_some(rows)
    )


def _class_scores(rows: Rows) -> str:
    y = rows.observed
    assert y is not None  # or there is nothing to compare
    shares = (
        rows.predicted if y.shape[1] > 1 else np.column_stack([1 - rows.predicted, rows.predicted])
    )
    truth = y if y.shape[1] > 1 else np.column_stack([1 - y, y])
    own = np.clip((shares * truth).sum(axis=1), 1e-15, 1.0)
    right = "" if rows.chosen is None else number(float(np.mean(rows.chosen)), 4)
    brier = number(float(((shares - truth) ** 2).sum(axis=1).mean()), 4)
    found = table(
        ["", "share of right classes", "log loss", "Brier score"],
        [[f"{len(y)} rows", right, number(float(-np.log(own).mean()), 4), brier]],
    )
    return scrolled(found, "Scores")


def _calibrations(names, rows: Rows) -> str:
    from ...plots.calibration import calibration_groups

    drawn = []
    for k, name in enumerate(names):
        p, y = rows.predicted[:, k], rows.observed[:, k]  # type: ignore[index]
        x, share, low, high = calibration_groups(p, y, BINS)
        drawn.append(
            chart(
                [
                    Line([0, 1], [0, 1], colour=1, is_dashed=True),
                    Points(x, share, size=4, low=low, high=high),
                ],
                f"predicted probability of {name}",
                "share observed",
                f"share of {name} observed against its predicted probability",
                x=(0.0, 1.0),
                y=(0.0, 1.0),
            )
        )
    return (
        "<h3>Calibration</h3>"
        f'<div class="charts">{"".join(f"<figure>{d}</figure>" for d in drawn)}</div>'
        + note(
            f"Rows in at most {BINS} groups of similar probability; the bars are 95 % intervals of Wilson. "
            "On the dashed line a probability of 0.3 comes true in 3 of 10 rows."
        )
    )


def _some(n: int) -> np.ndarray:
    return np.arange(n) if n <= MOST_POINTS else np.linspace(0, n - 1, MOST_POINTS).astype(int)


def _said_some(rows: Rows) -> str:
    n = len(rows.predicted)
    return note(f"{MOST_POINTS} of {n} rows are drawn.") if n > MOST_POINTS else ""
