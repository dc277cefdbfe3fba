"""Draw the diagrams of the pages into docs/_static: `python docs/diagrams.py`.

A diagram is a list of boxes and arrows on a canvas that stays legible on a telephone.
"""

from __future__ import annotations

from html import escape
from pathlib import Path

STATIC = Path(__file__).parent / "_static"
WIDTH = 600
INK, LINE, MUTED = "#1b2733", "#5b6b7b", "#5b6b7b"
FILLS = {"data": "#eef1f4", "step": "#ffffff", "key": "#dbeaf7", "result": "#fbe6d4"}
SVG = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"
 font-family="system-ui, 'DejaVu Sans', sans-serif" font-size="15">
<title>{title}</title>
<defs><marker id="head" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto">
<path d="M0 1 L9 5 L0 9 z" fill="{line}"/></marker></defs>
<rect width="{width}" height="{height}" fill="#ffffff"/>
{parts}
</svg>
"""


def box(x, y, width, height, kind, title, *lines):
    """A rounded box with a bold title and lines of text below it."""
    stroke = "#2f6fa8" if kind == "key" else "#c76a1a" if kind == "result" else LINE
    parts = [
        f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="7" fill="{FILLS[kind]}" '
        f'stroke="{stroke}" stroke-width="1.4"/>'
    ]
    top = y + height / 2 - 9.5 * len(lines) + 5
    for number, text in enumerate((title, *lines)):
        weight = ' font-weight="600"' if number == 0 else ""
        size = "" if number == 0 else ' font-size="13.5"'
        parts.append(
            f'<text x="{x + width / 2}" y="{top + 19 * number}" text-anchor="middle" fill="{INK}"'
            f"{weight}{size}>{escape(text)}</text>"
        )
    return "\n".join(parts)


def arrow(*points, dashed=False):
    """A line through the points with a head at its end."""
    path = " L".join(f"{x} {y}" for x, y in points)
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    return f'<path d="M{path}" fill="none" stroke="{LINE}" stroke-width="1.6" marker-end="url(#head)"{dash}/>'


def note(x, y, text, anchor="middle"):
    """A small remark beside an arrow."""
    style = f'fill="{MUTED}" font-size="13" font-style="italic"'
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" {style}>{escape(text)}</text>'


def engines():
    """Earth, its two engines and the model that both return."""
    return (
        470,
        "The engines of Earth",
        [
            box(150, 12, 300, 58, "data", "Earth, EarthClassifier", "X, y and R's options"),
            arrow((300, 70), (300, 96)),
            box(150, 98, 300, 58, "step", "validated once", "factors, formula, weights"),
            arrow((230, 156), (135, 196)),
            arrow((370, 156), (465, 196)),
            note(128, 176, 'engine="r"', "end"),
            note(472, 176, 'engine="native"', "start"),
            box(
                15,
                198,
                240,
                96,
                "step",
                "R's earth",
                "rpy2 runs R in the process;",
                "the fit comes back as numpy",
            ),
            box(
                345,
                198,
                240,
                96,
                "key",
                "native core",
                "C++ shipped with the package;",
                "no R needed",
            ),
            note(300, 240, "same"),
            note(300, 257, "terms"),
            arrow((135, 294), (230, 334)),
            arrow((465, 294), (370, 334)),
            box(
                110,
                336,
                380,
                58,
                "result",
                "MARS model in numpy",
                "terms, knots, coefficients, pruning sequence",
            ),
            arrow((300, 394), (300, 420)),
            box(
                40,
                422,
                520,
                36,
                "data",
                "predict · summary · report · JSON · SQL · JavaScript · ONNX",
            ),
        ],
    )


def auto_earth():
    """From the data to one averaged model."""
    return (
        560,
        "The pipeline of AutoEarth",
        [
            box(25, 12, 250, 58, "data", "X", "and 20 responses of pure noise"),
            box(325, 12, 250, 58, "data", "X and y", "your data"),
            arrow((150, 70), (150, 96)),
            arrow((450, 70), (450, 96)),
            box(25, 98, 250, 58, "step", "forward pass and pruning", "degrees 1, 2 and 3"),
            box(325, 98, 250, 58, "step", "forward pass and pruning", "degrees 1, 2 and 3"),
            arrow((150, 156), (150, 182)),
            arrow((450, 156), (450, 182)),
            box(25, 184, 250, 58, "key", "degrees of freedom", "of every size"),
            box(325, 184, 250, 58, "step", "residual sum of squares", "of every size"),
            arrow((150, 242), (250, 274)),
            arrow((450, 242), (350, 274)),
            box(
                130,
                276,
                340,
                58,
                "key",
                "AICc selects degree and size",
                "n_models=1 stops here: one model",
            ),
            arrow((300, 334), (300, 362)),
            note(310, 353, "estimates the noise", "start"),
            box(
                100,
                364,
                400,
                76,
                "step",
                "n_models perturbed responses",
                "y + 0.4 σ z: fit each, select its size",
                "with the same degrees of freedom",
            ),
            arrow((300, 440), (300, 466)),
            box(
                100,
                468,
                400,
                80,
                "result",
                "average = one MARS model",
                "common terms merged; degrees of freedom",
                "by Stein's lemma give error and intervals",
            ),
        ],
    )


def df_report():
    """The measurement of degrees of freedom of a pipeline and of its steps."""
    return (
        560,
        "The measurement of df_report",
        [
            box(
                150,
                12,
                300,
                58,
                "data",
                "pipeline fitted to X and y",
                "fitted values μ and noise σ",
            ),
            arrow((300, 70), (300, 96)),
            box(
                110,
                98,
                380,
                58,
                "step",
                "simulated responses around the fit",
                "y* = μ + σ ε, 100 times",
            ),
            arrow((230, 156), (140, 192)),
            arrow((370, 156), (460, 192)),
            box(
                10,
                194,
                270,
                96,
                "key",
                "complete pipeline refitted",
                "selection, tuning and fit",
                "see every y*",
            ),
            box(
                320,
                194,
                270,
                96,
                "step",
                "one choice held fixed",
                "for example the columns selected",
                "on your data; the rest refitted",
            ),
            arrow((145, 290), (145, 324)),
            arrow((455, 290), (455, 324)),
            box(10, 326, 270, 76, "key", "degrees of freedom", "Σ covariance(fit, y*) / σ²"),
            box(320, 326, 270, 76, "step", "degrees of freedom", "with that choice fixed"),
            arrow((145, 402), (220, 440)),
            arrow((455, 402), (380, 440)),
            box(150, 442, 300, 46, "result", "difference = cost of that step"),
            arrow((60, 402), (60, 506)),
            box(10, 508, 580, 40, "result", "honest R², AIC, BIC and GCV"),
        ],
    )


def main() -> None:
    """Write all diagrams."""
    for name, draw in (("engines", engines), ("auto-earth", auto_earth), ("df-report", df_report)):
        height, title, parts = draw()
        text = SVG.format(
            width=WIDTH, height=height, title=title, line=LINE, parts="\n".join(parts)
        )
        (STATIC / f"{name}.svg").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
