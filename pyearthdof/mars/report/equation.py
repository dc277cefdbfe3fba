"""Equation of a model in words and as MathML, which browsers render natively."""

from __future__ import annotations

import numpy as np

from ..._utils.html import Html, escape, note
from ..inspect.summary import anova_order, coef_matrix

MOST = 60
# Links as MathML functions of the mean m.
LINKS = {
    "identity": "{m}",
    "logit": "<mi>log</mi><mfrac><mrow>{m}</mrow><mrow><mn>1</mn><mo>−</mo>{m}</mrow></mfrac>",
    "probit": "<msup><mi>Φ</mi><mrow><mo>−</mo><mn>1</mn></mrow></msup><mo>(</mo>{m}<mo>)</mo>",
    "cauchit": "<mi>tan</mi><mo>(</mo><mi>π</mi><mo>(</mo>{m}<mo>−</mo><mfrac><mn>1</mn><mn>2</mn></mfrac>"
    "<mo>)</mo><mo>)</mo>",
    "cloglog": "<mi>log</mi><mo>(</mo><mo>−</mo><mi>log</mi><mo>(</mo><mn>1</mn><mo>−</mo>{m}<mo>)</mo>"
    "<mo>)</mo>",
    "log": "<mi>log</mi><mo>(</mo>{m}<mo>)</mo>",
    "inverse": "<mfrac><mn>1</mn><mrow>{m}</mrow></mfrac>",
    "sqrt": "<msqrt>{m}</msqrt>",
    "1/mu^2": "<mfrac><mn>1</mn><msup><mrow>{m}</mrow><mn>2</mn></msup></mfrac>",
}
LINK_WORDS = {
    "identity": "the mean", "logit": "the log-odds", "probit": "the probit", "cauchit": "the cauchit",
    "cloglog": "the complementary log-log", "log": "the logarithm of the mean",
    "inverse": "the inverse of the mean", "sqrt": "the root of the mean", "1/mu^2": "1 / mean²",
}  # fmt: skip


def words_html(model, classes=None) -> Html:
    """Return one sentence per term; `classes` are those of a classifier."""
    scale = _scale(model)
    parts = []
    for k, name in enumerate(model.response_names):
        coef, order = _coef(model)[:, k], _order(model)
        items = [f"<li>{_sentence(model, model.selected[t], coef[t])}</li>" for t in order[1:MOST]]
        what = f"{scale} of {escape(name)}" if model.glm is not None else escape(name)
        if classes is not None and model.glm is None:
            what = f"the probability of {what}"
        start = f"<p>Start with {what} at <b>{_number(coef[order[0]])}</b>"
        end = ", and add what follows.</p>" if items else ". No predictor changes it.</p>"
        parts.append(f'{start}{end}<ul class="words">{"".join(items)}</ul>')
    return Html("".join(parts) + _rest(model))


def equation_html(model, classes=None) -> Html:
    """Return one formula per response; `classes` are those of a classifier."""
    parts = []
    for k, name in enumerate(model.response_names):
        parts.append(
            f'<div class="scroll" tabindex="0" role="group" aria-label="Equation of {escape(name)}">'
            f"{_formula(model, name, _coef(model)[:, k], classes is not None)}</div>"
        )
    return Html(
        "".join(parts)
        + note("(z)₊ is z where z is positive and 0 elsewhere; [ ] is 1 where it is so, else 0.")
        + _rest(model)
    )


def _rest(model) -> str:
    more = model.n_terms - MOST
    return (
        note(f"{more} more terms are left out here; the table below has them.") if more > 0 else ""
    )


def _coef(model) -> np.ndarray:
    return coef_matrix(model.coef if model.glm is None else model.glm.coef)


def _order(model) -> list[int]:
    return anova_order(model.dirs[model.selected], model.cuts[model.selected])


def _scale(model) -> str:
    return LINK_WORDS[model.glm.link] if model.glm is not None else ""


def _number(value: float) -> str:
    return f"{value:.5g}".replace("-", "\N{MINUS SIGN}")


def _level(model, j: int) -> tuple[str, str] | None:
    """Return column and level if a predictor is an indicator."""
    if model.columns is None or model.columns.sources[j].kind != "level":
        return None
    source = model.columns.sources[j]
    return source.raw, str(source.level)


def _name(model, j: int) -> str:
    if model.columns is not None and model.columns.sources[j].kind == "number":
        return model.columns.sources[j].raw
    return model.feature_names[j]


def _sentence(model, term: int, coef: float) -> str:
    steps, places = [], []
    for j in np.flatnonzero(model.dirs[term]).tolist():
        direction, cut = model.dirs[term, j], _number(model.cuts[term, j])
        level = _level(model, j)
        if level is not None and direction == 2:
            places.append(f"where <b>{escape(level[0])}</b> is <b>{escape(level[1])}</b>")
        elif direction == 2:
            steps.append(f"each unit of <b>{escape(_name(model, j))}</b>")
        else:
            side = "above" if direction == 1 else "below"
            steps.append(f"each unit of <b>{escape(_name(model, j))}</b> {side} {cut}")
    amount = f'<span class="amount">{"+" if coef >= 0 else ""}{_number(coef)}</span>'
    for_each = f" for {' times '.join(steps)}" if steps else ""
    where = f" {' and '.join(places)}" if places else ""
    return f"{amount}{for_each}{where}"


def _formula(model, name: str, coef: np.ndarray, is_class: bool) -> str:
    order = _order(model)
    mean = f"<mover><mtext>{escape(name)}</mtext><mo>^</mo></mover>"
    if is_class:
        mean = f"<mi>P</mi><mo>(</mo><mtext>{escape(name)}</mtext><mo>)</mo>"
    left = mean if model.glm is None else LINKS[model.glm.link].replace("{m}", mean)
    rows = [
        f"<mtd>{left}</mtd><mtd><mo>=</mo></mtd><mtd>{_signed(coef[order[0]], first=True)}</mtd>"
    ]
    for t in order[1:MOST]:
        term = model.selected[t]
        factors = "".join(
            _factor(model, term, j) for j in np.flatnonzero(model.dirs[term]).tolist()
        )
        rows.append(f"<mtd></mtd><mtd></mtd><mtd>{_signed(coef[t])}{factors}</mtd>")
    if model.formula is not None and model.formula.has_offset:
        rows.append("<mtd></mtd><mtd></mtd><mtd><mo>+</mo><mtext>offset</mtext></mtd>")
    body = "".join(f"<mtr>{row}</mtr>" for row in rows)
    return f'<math display="block"><mtable class="equation">{body}</mtable></math>'


def _signed(value: float, first: bool = False) -> str:
    sign = "<mo>−</mo>" if value < 0 else ("" if first else "<mo>+</mo>")
    digits, _, power = f"{abs(value):.5g}".partition("e")
    if not power:
        return f"{sign}<mn>{digits}</mn>"
    exponent = (
        f"<mn>{int(power)}</mn>"
        if int(power) >= 0
        else f"<mrow><mo>−</mo><mn>{-int(power)}</mn></mrow>"
    )
    return f"{sign}<mn>{digits}</mn><mo>·</mo><msup><mn>10</mn>{exponent}</msup>"


def _factor(model, term: int, j: int) -> str:
    direction, cut = model.dirs[term, j], float(model.cuts[term, j])
    level = _level(model, j)
    if level is not None and direction == 2:
        inner = f"<mtext>{escape(level[0])}</mtext><mo>=</mo><mtext>{escape(level[1])}</mtext>"
        return f"<mo>·</mo><mo>[</mo>{inner}<mo>]</mo>"
    name = f"<mtext>{escape(_name(model, j))}</mtext>"
    if direction == 2:
        return f"<mo>·</mo>{name}"
    above = f"{name}{_signed(-cut)}" if cut else name
    inner = above if direction == 1 else f"{_signed(cut, first=True)}<mo>−</mo>{name}"
    return f"<mo>·</mo><msub><mrow><mo>(</mo>{inner}<mo>)</mo></mrow><mo>+</mo></msub>"
