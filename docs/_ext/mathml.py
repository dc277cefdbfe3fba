"""Formulas as MathML, made when the pages are built: no script, no font and no network to read them."""

from docutils.utils.math.latex2mathml import tex2mathml

__all__ = ["setup"]


def _visit_inline(translator, node):
    translator.body.append(_mathml(node.astext()))
    _skip()


def _visit_block(translator, node):
    number = ""
    if node["number"]:
        number = f'<span class="eqno">({node["number"]})</span>'
    anchor = f' id="{node["ids"][0]}"' if node.get("ids") else ""
    translator.body.append(
        f'<div class="formula"{anchor}>{number}{_mathml(node.astext(), as_block=True)}</div>\n'
    )
    _skip()


def _mathml(tex: str, as_block: bool = False) -> str:
    return tex2mathml(tex, as_block=as_block)


def _skip():
    from docutils import nodes

    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (_visit_inline, None), (_visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
