"""A fitted model for notebooks: its terms with their hinges drawn small, coefficients and GCV."""

from __future__ import annotations

import numpy as np

from ..._utils.html import ACCENT, Html, box, escape, folded, note, number, table, text_block
from .summary import anova_order, coef_matrix, spaced

MOST_TERMS = 60
WIDTH, HEIGHT, MARGIN = 64, 22, 3


class Summary(str):
    """The text of a summary, which a notebook shows with the terms drawn; everywhere else it is a str.

    Examples
    --------
    >>> import numpy as np
    >>> from pyearthdof import Earth
    >>> x = np.random.default_rng(0).normal(size=(100, 2))
    >>> found = Earth(engine="native").fit(x, np.abs(x[:, 0])).summary()
    >>> isinstance(found, str), "<svg" in found._repr_html_()
    (True, True)
    """

    _model = None

    @classmethod
    def of(cls, text: str, model) -> Summary:
        """The text, and the model that it is about."""
        found = cls(text)
        found._model = model
        return found

    def _repr_html_(self) -> str:
        if self._model is None:
            return text_block(str(self))
        return model_html(self._model, folded("as text", text_block(str(self))))

    def _repr_pretty_(self, printer, cycle) -> None:
        """IPython's terminal shows the text, not its quotes."""
        printer.text(str(self))


def model_html(model, *more: str) -> Html:
    """A box with the terms of a model and how good it is."""
    used, known = len(model.used_features()), len(model.feature_names)
    title = f"MARS model of {', '.join(model.response_names)}"
    line = (
        f"{model.n_terms} of {len(model.dirs)} terms, {used} of {known} predictors, {model.n_samples} rows, "
        f"nominal df {model.nominal_df:g}"
    )
    return box(title, note(line), terms_html(model), _statistics(model), *more)


def terms_html(model) -> Html:
    """A table of the selected terms by degree and predictor."""
    dirs, cuts = model.dirs[model.selected], model.cuts[model.selected]
    coefs = [("coefficient", coef_matrix(model.coef))]
    if model.glm is not None:
        coefs = [("coefficient (glm)", coef_matrix(model.glm.coef)), ("least squares", coefs[0][1])]
    several = len(model.response_names) > 1
    coefs = coefs[:1] if several else coefs  # or the table would be too wide
    columns = [
        (f"{title}: {name}" if several else title, values[:, k])
        for title, values in coefs
        for k, name in enumerate(model.response_names)
    ]
    order = anova_order(dirs, cuts)
    leading = coefs[0][1][:, 0]
    rows = [
        [
            spaced(model.selected_names[t]),
            _drawing(model, dirs[t], cuts[t], leading[t]),
            *(number(values[t], 7) for _, values in columns),
        ]
        for t in order[:MOST_TERMS]
    ]
    found = table(["term", "", *(title for title, _ in columns)], rows, left=2)
    rest = len(order) - MOST_TERMS
    return Html(found + note(f"and {rest} more terms")) if rest > 0 else found


def _statistics(model) -> Html:
    several = len(model.response_names) > 1
    names = ["GCV", "RSS", "GRSq", "RSq"]
    values = [(model.gcv, model.rss, model.grsq, model.rsq)]
    if several:
        each = (getattr(model, f"{name.lower()}_per_response") for name in names)
        values = [*zip(*each, strict=True), *values]
    titles = [*model.response_names[: len(values) - 1], "all"] if several else [""]
    pairs = zip(titles, values, strict=True)
    found = table(["", *names], [[title, *(number(v, 6) for v in row)] for title, row in pairs])
    if model.glm is None:
        return found
    rows = [
        [name, number(r["deviance"]), number(r["null_deviance"]), number(r["deviance_ratio"], 3)]
        for name, r in model.glm.to_frame(model.response_names).iterrows()
    ]
    head = f"{model.glm.family}, link {model.glm.link}"
    return Html(table([head, "deviance", "null deviance", "share explained"], rows) + found)


def _drawing(model, dirs, cuts, coef: float) -> Html:
    """A drawing for each factor; that of a term of one factor goes down where its coefficient does."""
    used = np.flatnonzero(dirs)
    sign = -1 if len(used) == 1 and coef < 0 else 1
    drawings = [_factor(model, int(j), int(dirs[j]), float(cuts[j]), sign) for j in used]
    return Html(' <span style="opacity:.6">×</span> '.join(drawings))


def _factor(model, j: int, direction: int, cut: float, sign: int) -> Html:
    name = model.feature_names[j]
    low, high = _range(model, j, cut)
    if direction == 2 and model.columns is not None and model.columns.sources[j].kind == "level":
        points, said = [(0.0, 0.0), (0.5, 0.0), (0.5, 1.0), (1.0, 1.0)], f"{name}, yes or no"
    elif direction == 2:
        points, said = [(0.0, 0.0), (1.0, 1.0)], f"{name}, linear"
    else:
        knot = min(max((cut - low) / (high - low), 0.0), 1.0)
        points = [(0.0, 0.0), (knot, 0.0), (1.0, 1.0 - knot)]
        said = f"{name} above {cut:.4g}"
        if direction == -1:
            points, said = [(0.0, knot), (knot, 0.0), (1.0, 0.0)], f"{name} below {cut:.4g}"
    top = max(y for _, y in points) or 1.0
    width, height = WIDTH - 2.0 * MARGIN, HEIGHT - 2.0 * MARGIN
    base = HEIGHT - MARGIN - (height if sign < 0 else 0.0)
    path = " ".join(
        f"{MARGIN + x * width:.1f},{base - sign * y / top * height:.1f}" for x, y in points
    )
    return Html(
        f'<svg width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(said)}" style="vertical-align:middle"><title>{escape(said)}</title>'
        f'<line x1="{MARGIN}" y1="{base}" x2="{WIDTH - MARGIN}" y2="{base}" stroke="currentColor" '
        f'stroke-opacity=".3"/><polyline points="{path}" fill="none" stroke="{ACCENT}" stroke-width="1.8" '
        'stroke-linejoin="round"/></svg>'
    )


def _range(model, j: int, cut: float) -> tuple[float, float]:
    """Of a predictor at the training rows, where it is a raw column of numbers; else around the cut."""
    owners = model.owners[j]
    if model.ranges is not None and len(owners) == 1:
        found = model.ranges[next(iter(owners))]
        is_raw = model.formula is None or model.feature_names[j] == found.name
        if is_raw and found.low is not None and found.high is not None and found.low < found.high:
            return found.low, found.high
    size = max(abs(cut), 1.0)
    return cut - size, cut + size
