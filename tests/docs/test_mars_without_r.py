"""What docs/mars.md shows for Python, in a process where R cannot be found."""

from pathlib import Path

from tests.support.docs_pages import examples
from tests.support.without_r import run_without_r

PAGE = Path(__file__).parents[2] / "docs" / "mars.md"
# mda's MARS, R's own objects, and the comparison with R: no other block of the page may ask for R
NEEDS_R = ("Mars(", ".to_rds(", "crosscheck(")
RUN = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.support.docs_pages import examples, run, same
page = Path(sys.argv[2])
names = {"__name__": "page"}
for example in examples(page.read_text("utf-8"), "python"):
    if any(text in example.code for text in sys.argv[3:]):
        continue
    printed = run(example, names, page)
    assert same(printed, example.output or ""), (example.line, printed)
    print(example.line)
fitted = [value for value in names.values() if hasattr(value, "engine_") and not isinstance(value, type)]
engines = {value.engine_ for value in fitted}
print(*engines)
"""


def test_the_python_side_of_mars_needs_no_r(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = examples(PAGE.read_text("utf-8"), "python")
    run_here = [e for e in shown if not any(text in e.code for text in NEEDS_R)]
    printed = run_without_r(RUN, str(PAGE.parents[1]), str(PAGE), *NEEDS_R, MPLBACKEND="agg")
    *lines, engines = printed.split()
    assert [int(line) for line in lines] == [e.line for e in run_here]
    assert len(run_here) >= len(shown) - len(NEEDS_R)
    assert engines == "native"
