"""The notebook of the docs, run cell by cell in a kernel: what it shows, as text, HTML and pictures.

`make notebook-test` runs these; `make test` neither installs what they need nor runs them.
"""

import base64
import importlib.util
import json
import struct
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[2] / "docs" / "notebooks" / "first-analysis.ipynb"
LACKING = [name for name in ("nbclient", "ipykernel") if importlib.util.find_spec(name) is None]

needs_kernel = pytest.mark.skipif(
    bool(LACKING), reason=f"`make notebook-test` installs {' and '.join(LACKING)}"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("notebook")


@pytest.fixture(scope="module")
def outputs(folder):
    """What each cell of code shows, by its last line."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    ).execute()
    nbformat.write(notebook, folder / "run.ipynb")
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return {cell.source.splitlines()[-1]: cell.outputs for cell in cells}


def shown(outputs, line) -> dict:
    (output,) = outputs[line]
    assert output.output_type in ("execute_result", "display_data")
    return output.data


def test_it_is_kept_without_outputs():
    cells = json.loads(NOTEBOOK.read_text("utf-8"))["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert code and all(cell["outputs"] == [] for cell in code)
    assert all(cell["execution_count"] is None for cell in code)


@needs_kernel
def test_nothing_is_printed_or_warned_of(outputs):
    assert {o.output_type for cell in outputs.values() for o in cell} == {
        "execute_result", "display_data",
    }  # fmt: skip


@needs_kernel
@pytest.mark.parametrize("line", ["model", "model.summary()", "model.model_"])
def test_a_model_shows_its_terms(outputs, line):
    html = shown(outputs, line)["text/html"]
    assert "MARS model of O3" in html and html.count("<svg") >= 10
    assert "h(temp-56)" in html and "GCV" in html
    assert "src=" not in html and 'href="http' not in html.partition('class="pyearthdof"')[2]


@needs_kernel
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("model.importance()", ("nsubsets", "temp")),
        ("model.anova()", ("gcv", "temp dpg")),
        ("model.predict_interval(X_test.head())", ("lower", "upper")),
        ("measured", ("±", "df")),
        ("correction", ("±", "penalty")),
        ("doctor()", ("native engine",)),
    ],
)
def test_results_are_tables(outputs, line, words):
    data = shown(outputs, line)
    assert "<table" in data["text/html"]
    for word in words:
        assert word in data["text/html"]


@needs_kernel
def test_plain_text_is_for_people(outputs):
    for line in ("model.summary()", "model.model_", "doctor()", "measured", "correction"):
        text = shown(outputs, line)["text/plain"]
        assert "\\n" not in text and "array(" not in text and "Finding(" not in text


@needs_kernel
@pytest.mark.parametrize("function", ["plot_effects", "plot_contributions"])
def test_pictures_are_drawn_once(outputs, function):
    (line,) = (line for line in outputs if function in line)
    picture = base64.b64decode(shown(outputs, line)["image/png"])
    assert picture.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", picture[16:24])
    assert width > 400 and height > 250


@needs_kernel
def test_the_files_are_there(outputs, folder):
    from pyearthdof import Earth

    assert Earth.load(folder / "ozone.json").n_terms_ > 1
    assert "Ozone in Los Angeles" in (folder / "ozone.html").read_text("utf-8")
