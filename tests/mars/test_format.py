"""format_model is R's cat(format(fit)), byte for byte."""

import re

import pytest
from r_models import ARGUMENTS, FITS, IN_FULL, STYLES, r_model, r_text
from rscript import needs_rscript

from pyearthdof.exceptions import InvalidInputError
from pyearthdof.mars.format import format_model

pytestmark = needs_rscript


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("name", FITS)
def test_every_style_as_in_r(name, style):
    model = r_model(name)
    assert format_model(model, style) == r_text(name, style, "")


@pytest.mark.parametrize("arguments", ARGUMENTS)
@pytest.mark.parametrize("name", IN_FULL)
def test_every_argument_as_in_r(name, arguments):
    model = r_model(name)
    for style in STYLES:
        text = format_model(model, style, **ARGUMENTS[arguments])
        assert text == r_text(name, style, arguments), style


def test_styles_differ():
    assert len({format_model(r_model("ozone-3"), style) for style in STYLES}) == len(STYLES)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"style": "H"}, "style='H' but it should be one of 'h', 'pmax', 'max', 'C', 'bf'"),
        ({"decomp": "both"}, "decomp='both' but it should be one of 'anova', 'none'"),
        ({"digits": 0}, "digits=0 but it should be from 1 to 22"),
        ({"digits": 23}, "digits=23 but it should be from 1 to 22"),
        ({"digits": 3.5}, "digits=3.5 but it should be an integer"),
        ({"digits": True}, "digits=True but it should be an integer"),
        ({"use_names": "no"}, "use_names='no' but it should be True or False"),
        ({"colon_char": None}, "colon_char=None but it should be a string"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        format_model(r_model("trees"), **arguments)
