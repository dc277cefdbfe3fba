"""The report page: complete, self-contained, and readable in a browser, on a phone, in the dark."""

import html
import json
import re
import shutil
import subprocess
import warnings

import pytest

from pyearthdof.exceptions import InvalidInputError
from pyearthdof.experiments import experiment
from pyearthdof.experiments.output import read_left_out, write_left_out, write_result
from pyearthdof.experiments.results_page import write_report
from pyearthdof.experiments.runner import run_experiments
from tests.support.toy import Toy

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium here")


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    for result in run_experiments([Toy(), experiment("F-lasso-df")], "quick"):
        write_result(result, folder)
    (folder / "model.json").write_text('{"kind": "something else"}')
    (folder / "broken.json").write_text("{")
    return write_report(folder)


def test_it_says_what_how_and_on_what(page):
    text = html.unescape(page.read_text(encoding="utf-8"))
    found = experiment("F-lasso-df")
    assert found.title in text and found.question in text
    for word in ("numpy", "python 3", "s of computing", "at most", "holds", "off by"):
        assert word in text
    assert text.count("<section") == 2 and text.count("<figure") == 2
    assert 'href="#F-lasso-df"' in text and 'id="F-lasso-df"' in text


def test_every_section_has_its_table_and_then_its_figure(page):
    sections = page.read_text(encoding="utf-8").split("<section")[1:]
    assert len(sections) == 2
    for section in sections:
        pair = section.split('<div class="pair">')[1].split("<details")[0]
        assert pair.count("<table") == pair.count("<figure") == 1
        assert pair.index("<table") < pair.index("<figure")


def test_it_needs_nothing_beside_it(page):
    text = page.read_text(encoding="utf-8")
    links = re.findall(r'(?:src|href)="([^"]*)"', text)
    assert links and all(link.startswith(("#", "data:image/svg+xml;base64,")) for link in links)
    assert "<script" not in text and "@import" not in text and "url(" not in text


def test_an_empty_folder_has_no_report(tmp_path):
    with pytest.raises(InvalidInputError, match=r"no results in .*pyearthdof reproduce"):
        write_report(tmp_path)
    assert not (tmp_path / "report.html").exists()


SCRIPT = '"><script>alert(1)</script><img src=x onerror=alert(2)>'


def about(name="T1", **changes) -> dict:
    """A result as `reproduce` writes it."""
    compared = {"quantity": "df", "ours": "1", "paper": "1", "verdict": "exact", "agrees": True}
    return {
        "name": name, "title": "t", "question": "q", "size": "quick", "settings": {"n": 1},
        "engine": "r", "versions": {"R": "4"}, "cells": 1, "seconds": 1.0,
        "table": {"columns": ["a"], "rows": [["1"]]}, "comparisons": [compared],
    } | changes  # fmt: skip


def nested(value, path, new):
    if not path:
        return new
    value = dict(value) if isinstance(value, dict) else list(value)
    value[path[0]] = nested(value[path[0]], path[1:], new)
    return value


PLACES = [
    ("title",), ("question",), ("size",), ("engine",), ("settings", "n"), ("versions", "R"),
    ("table", "columns", 0), ("table", "rows", 0, 0), ("comparisons", 0, "quantity"),
    ("comparisons", 0, "ours"), ("comparisons", 0, "paper"), ("comparisons", 0, "verdict"),
]  # fmt: skip


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_no_text_becomes_a_script(tmp_path, place):
    (tmp_path / "T1.json").write_text(json.dumps(nested(about(), place, SCRIPT)))
    (tmp_path / "T1.svg").write_text(SCRIPT)
    text = write_report(tmp_path).read_text(encoding="utf-8")
    assert "<script" not in text and "<img src=x" not in text
    assert html.escape(SCRIPT) in text or "settings" in place  # long settings are shortened


@pytest.mark.parametrize("name", [SCRIPT.replace("/", ""), "a b", "x' onclick='alert(1)", "é&<"])
def test_a_name_with_a_script_in_it(tmp_path, name):
    (tmp_path / f"{name}.json").write_text(json.dumps(about(name)))
    text = write_report(tmp_path).read_text(encoding="utf-8")
    assert "<script" not in text and "<img src=x" not in text
    assert f'href="#{html.escape(name)}"' in text and f'id="{html.escape(name)}"' in text


ODD = (None, 3, True, "text", [], {}, [1], [[1]], {"a": 1}, float("nan"), [None], [{}])


@pytest.mark.parametrize("field", sorted(about()))
def test_json_of_another_shape_is_left_out(tmp_path, field):
    """Every field with every odd value: on the page, or left out with a word about it."""
    (tmp_path / "T3.json").write_text(json.dumps(about("T3")))
    left_out = 0
    for value in (*ODD, "gone"):
        odd = about() | {field: value}
        if value == "gone":
            del odd[field]
        (tmp_path / "T1.json").write_text(json.dumps(odd))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            text = write_report(tmp_path).read_text(encoding="utf-8")
        assert 'id="T3"' in text
        if 'id="T1"' not in text and {"name", "comparisons", "table"} <= odd.keys():
            assert "T1.json' is left out of the page: its" in str(caught[0].message)
            left_out += 1
    assert left_out > 5


def test_a_result_does_not_reach_out_of_its_folder(tmp_path):
    (tmp_path / "secret.svg").write_text("<svg>secret</svg>")
    folder = tmp_path / "results"
    folder.mkdir()
    (folder / "T1.json").write_text(json.dumps(about("../secret")))
    with (
        pytest.warns(UserWarning, match="its name is not that of the file"),
        pytest.raises(InvalidInputError, match="no results"),
    ):
        write_report(folder)


def browse(folder, page, width, *flags):
    """Open the page in a frame of that width and return what a script sees there."""
    probe = """
<script>
const frame = document.querySelector("iframe");
frame.onload = () => setTimeout(() => {
  const page = frame.contentDocument;
  const images = [...page.images];
  document.body.innerHTML = "<pre>" + JSON.stringify({
    width: page.documentElement.scrollWidth,
    images: images.map(image => image.complete && image.naturalWidth > 0),
    ink: frame.contentWindow.getComputedStyle(page.body).color,
    back: frame.contentWindow.getComputedStyle(page.body).backgroundColor,
    sections: page.querySelectorAll("section").length,
    unsigned: [...page.querySelectorAll("section *")].filter(e =>
      e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0
      && !e.closest(".scroll, figure")).map(e => e.tagName + "." + e.className),
    shadows: [...page.querySelectorAll(".scroll, figure")].every(e =>
      frame.contentWindow.getComputedStyle(e).backgroundImage.split("linear-gradient").length == 5),
    targets: [...page.querySelectorAll("nav a")].every(a => page.querySelector(a.getAttribute("href"))),
    smallest: Math.min(...[...page.querySelectorAll("p, td, li")].map(
      e => parseFloat(frame.contentWindow.getComputedStyle(e).fontSize))),
  }) + "</pre>";
}, 500);
</script>"""
    source = html.escape(page.read_text(encoding="utf-8"))
    wrapper = folder / f"wrapper-{width}.html"
    wrapper.write_text(
        f'<!doctype html><body><iframe width="{width}" height="800" style="border:0" srcdoc="{source}">'
        f"</iframe>{probe}</body>",
        encoding="utf-8",
    )
    profile = folder / f"profile-{width}-{len(flags)}"
    command = [
        CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-sync",
        f"--user-data-dir={profile}", "--virtual-time-budget=8000", "--window-size=1400,1000",
        *flags, "--dump-dom", f"file://{wrapper}",
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
    found = re.search(r"<pre>(.*?)</pre>", done.stdout, re.DOTALL)
    assert found, done.stderr[-2000:]
    return json.loads(html.unescape(found.group(1)))


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("width", [360, 400, 1200, 1400])
def test_it_fits_a_phone_and_a_desk(tmp_path, page, width):
    seen = browse(tmp_path, page, width)
    assert seen["width"] <= width, "the page scrolls sideways"
    assert seen["sections"] == 2 and seen["targets"]
    assert seen["unsigned"] == [] and seen["shadows"]
    assert len(seen["images"]) == 2 and all(seen["images"])
    assert seen["smallest"] >= 13


def brightness(colour):
    return sum(int(v) for v in re.findall(r"\d+", colour)[:3]) / 3


@pytest.mark.slow
@needs_browser
def test_light_and_dark(tmp_path, page):
    light = browse(tmp_path, page, 800, "--blink-settings=preferredColorScheme=1")
    dark = browse(tmp_path, page, 801, "--blink-settings=preferredColorScheme=0")
    assert brightness(light["back"]) > 200 > 80 > brightness(light["ink"])
    assert brightness(dark["back"]) < 80 < 200 < brightness(dark["ink"])


def contents(page):
    text = html.unescape(page.read_text(encoding="utf-8"))
    return text.split("<nav")[1].split("</nav>")[0]


def test_what_was_left_out_is_named_with_its_reason(tmp_path):
    [result] = run_experiments([experiment("F-lasso-df")], "quick")
    write_result(result, tmp_path)
    reason = "there is no <b>spam</b> on this planet"
    write_left_out(tmp_path, ["F-lasso-df", "T-spam"], {"T-spam": reason})
    page = write_report(tmp_path)
    lines = [line for line in contents(page).splitlines() if "<li>" in line]
    assert len(lines) == 10
    assert [line for line in lines if "T-spam" in line and f"left out: {reason}" in line]
    assert "<b>spam" not in page.read_text(encoding="utf-8")
    assert sum("not run" in line for line in lines) == 8


def test_a_reason_stays_until_the_experiment_runs(tmp_path):
    write_left_out(tmp_path, ["T-spam", "T-ozone"], {"T-spam": "no data", "T-ozone": "no R"})
    write_left_out(tmp_path, ["T1"], {})
    assert read_left_out(tmp_path) == {"T-spam": "no data", "T-ozone": "no R"}
    write_left_out(tmp_path, ["T-ozone"], {})
    assert read_left_out(tmp_path) == {"T-spam": "no data"}
    (tmp_path / "left-out.json").write_text("[1")
    assert read_left_out(tmp_path) == {}
    (tmp_path / "left-out.json").write_text('{"T1": 3, "T2": "no"}')
    assert read_left_out(tmp_path) == {"T2": "no"}


def test_an_older_result_of_what_is_left_out_now(tmp_path):
    [result] = run_experiments([experiment("F-lasso-df")], "quick")
    write_result(result, tmp_path)
    write_left_out(tmp_path, ["F-lasso-df"], {"F-lasso-df": "no lasso"})
    assert "these numbers are older: no lasso" in contents(write_report(tmp_path))


def test_the_numbers_of_r_are_counted_apart(tmp_path):
    for result in run_experiments([experiment("F-subset"), experiment("F-lasso-df")], "quick"):
        write_result(result, tmp_path)
    text = html.unescape(write_report(tmp_path).read_text(encoding="utf-8"))
    assert "7 of 7 agree with the paper, 20 of 20 agree with R." in text
    assert "the paper 1 of 1; R 20 of 20" in text and "27 of 27" not in text
    assert text.count("<th>R reference</th>") == 1


def test_a_page_of_results_from_before_r_had_a_column(tmp_path):
    [result] = run_experiments([Toy()], "quick")
    write_result(result, tmp_path)
    file = tmp_path / "T-toy.json"
    about = json.loads(file.read_text(encoding="utf-8"))
    del about["seed"]
    for line in about["comparisons"]:
        del line["reference"]
    file.write_text(json.dumps(about), encoding="utf-8")
    assert "0 of 1 agree with the paper" in write_report(tmp_path).read_text(encoding="utf-8")
