"""CSV files of strangers: read as they are, or refused in one sentence with the line."""

import bz2
import gzip
import io
import lzma
import subprocess
import sys
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pyearthdof import Earth
from pyearthdof.cli import main
from pyearthdof.cli.table import read_table
from pyearthdof.exceptions import InvalidInputError

REFUSED = {
    "more fields": ("y,a,b\n1,2,3\n4,5,6,7\n8,9,1\n", "line 3 has 4 field(s) but the header has 3"),
    "more fields everywhere": ("y,a\n1,2,3\n4,5,6\n", "line 2 has 3 field(s) but the header has 2"),
    "row names without a header": ('"y","a"\n"1",2,3\n"2",5,6\n', "line 2 has 3 field(s)"),
    "a comma at the end": ("y,a\n1,2,\n4,5,\n", "line 2 has 3 field(s) but the header has 2"),
    "fewer fields": ("y,a,b\n1,2,3\n4,5\n8,9,1\n", "line 3 has 2 field(s) but the header has 3"),
    "one field": ("y,a,b\n1,2,3\n4\n", "line 3 has 1 field(s)"),
    "only the last": ("y,a,b\n" + "1,2,3\n" * 500 + "4,5,6,7\n", "line 502 has 4 field(s)"),
    "after blank lines": ("\n\ny,a\n\n1,2\n\n\n4,5,6\n", "line 8 has 3 field(s)"),
    "after lines in quotes": ('y,a\n1,"x\ny\nz"\n2,u,v\n', "line 5 has 3 field(s)"),
    "a record of several lines": ('y,a\n1,"u"\n2,"x\ny",3\n', "line 3 has 3 field(s)"),
    "Windows": ("y,a\r\n1,2\r\n4,5,6\r\n", "line 3 has 3 field(s)"),
    "old Macs": ("y,a\r1,2\r4,5,6\r", "line 3 has 3 field(s)"),
    "a name twice": ("y,a,b,a\n1,2,3,4\n", "line 1 has the name 'a' twice, for columns 2 and 4"),
    "a name twice after a mark": ("\ufeffy,a,a\n1,2,3\n", "line 1 has the name 'a' twice"),
    "the target twice": ("y,a,y\n1,2,3\n", "has the name 'y' twice, for columns 1 and 3"),
    "a quoted name twice": ('y,"a",a\n1,2,3\n', "has the name 'a' twice"),
    "no name": ("y,,b\n1,2,3\n", "the header in line 1 has no name for column 2"),
    "no name at the start": (",y,b\n1,2,3\n", "no name for column 1 (R's write.csv"),
    "no name at the end": ("y,b,\n1,2,3\n", "no name for column 3"),
    "a blank name": ("y,  ,b\n1,2,3\n", "no name for column 2"),
    "no names, no rows": (",,\n", "no name for column 1"),
    "an open quote": ('y,a\n1,"2\n3,4\n', "line 2: unexpected end of data"),
    "text after a quote": ('y,a\n1,"2"3\n', "line 2: ',' expected after '\"'"),
    "NUL": ("y,a\n1,2\n3,\0\n", "line 3 contains a NUL character"),
    "nothing": ("", "it is empty"),
    "blank lines": ("\n \n\t\n", "it is empty"),
}  # fmt: skip


def written(tmp_path, content):
    file = tmp_path / "data.csv"
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    return file


@pytest.mark.parametrize("name", REFUSED)
def test_a_table_of_another_shape_is_refused(tmp_path, monkeypatch, capsys, name):
    content, message = REFUSED[name]
    file = written(tmp_path, content)
    monkeypatch.setattr(sys, "argv", ["pyearthdof", "fit", str(file), "--target", "y"])
    with pytest.raises(SystemExit) as stop:
        main()
    out, err = capsys.readouterr()
    assert stop.value.code == 2 and out == ""
    assert err.startswith(f"pyearthdof: {file} is not a readable CSV file: ") and message in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"y,a\n1,caf\xe9\n", "line 2 contains the byte 0xe9, which is not UTF-8"),
        ("y,a\n1,2\n".encode("utf-16"), "line 1 contains the byte 0xff"),
        (b"\x80\n", "line 1 contains the byte 0x80"),
    ],
)
def test_what_is_not_utf_8_is_refused(tmp_path, content, message):
    with pytest.raises(InvalidInputError, match=message):
        read_table(str(written(tmp_path, content)))


FINE = pd.DataFrame({"y": [1.5, 4.0], "a": [2, 5]})


@pytest.mark.parametrize(
    "content",
    [
        "y,a\n1.5,2\n4,5\n", "y,a\n1.5,2\n4,5", "y,a\r\n1.5,2\r\n4,5\r\n", "\ufeffy,a\n1.5,2\n4,5\n",
        '\ufeff"y","a"\n"1.5",2\n4,"5"\n', "\n\ny,a\n\n1.5,2\n  \n4,5\n\n\n", "y,a\r1.5,2\r4,5\r",
    ],
)  # fmt: skip
def test_a_plain_table_is_read(tmp_path, content):
    pd.testing.assert_frame_equal(read_table(str(written(tmp_path, content))), FINE)


def test_quotes_and_missing_values_are_read(tmp_path):
    found = read_table(str(written(tmp_path, 'y,"a, b",c\n1,"x ""q""\nz",\n2,,3\n')))
    assert list(found.columns) == ["y", "a, b", "c"]
    assert found["a, b"][0] == 'x "q"\nz' and found["a, b"].isna()[1]
    np.testing.assert_array_equal(found["c"], [np.nan, 3.0])


@pytest.mark.parametrize(("end", "module"), [(".gz", gzip), (".bz2", bz2), (".xz", lzma)])
def test_a_compressed_table_is_read(tmp_path, end, module):
    file = tmp_path / f"data.csv{end}"
    file.write_bytes(module.compress(b"y,a\n1.5,2\n4,5\n"))
    pd.testing.assert_frame_equal(read_table(str(file)), FINE)
    for damaged in (b"y,a\n1,2\n", file.read_bytes()[:-9]):
        file.write_bytes(damaged)
        with pytest.raises(InvalidInputError, match="is not a readable CSV file"):
            read_table(str(file))


def test_every_digit_is_read(tmp_path):
    numbers = np.random.default_rng(1).normal(size=200)
    file = tmp_path / "data.csv"
    pd.DataFrame({"y": numbers, "a": numbers}).to_csv(file, index=False)
    np.testing.assert_array_equal(read_table(str(file))["y"], numbers)


def test_numbers_with_a_comma_are_no_texts(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("kind;y\nvan;1,5\nbus;2\ncar;\n", encoding="utf-8")
    with pytest.raises(InvalidInputError, match=r"column 'y' holds '1,5' .* with --decimal ','$"):
        read_table(str(file), sep=";")
    assert read_table(str(file), sep=";", decimal=",")["y"].tolist()[:2] == [1.5, 2.0]
    file.write_text("kind;y\nvan;1,5\nbus;two, or three\n", encoding="utf-8")
    assert read_table(str(file), sep=";")["y"].tolist() == ["1,5", "two, or three"]


NUMBERS = [f"{0.5 * k:g}" for k in range(60)]


def rows_with(**cells) -> str:
    """A table of 60 rows; each cell is given as (row, text)."""
    columns = {"y": [f"{k % 7}.5" for k in range(60)], "a": list(NUMBERS), "b": list(NUMBERS)}
    for name, changes in cells.items():
        for row, text in changes:
            columns[name][row] = f'"{text}"'
    lines = zip(*columns.values(), strict=True)
    return "y,a,b\n" + "".join(",".join(line) + "\n" for line in lines)


BAD = ["1_000", "1,000", "0x10", "1.5x", "l0", "?", "12 %", "€5", "1,5", "١٢"]


@pytest.fixture
def run(monkeypatch, capsys):
    def run(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "argv", ["pyearthdof", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), "utf-8"))
        with pytest.raises(SystemExit) as stop:
            main()
        return stop.value.code or 0, *capsys.readouterr()

    return run


class TestCellsThatAreNoNumbers:
    @pytest.mark.parametrize("text", BAD)
    def test_one_of_them_is_named(self, tmp_path, text):
        file = written(tmp_path, rows_with(a=[(3, text)]))
        with pytest.raises(InvalidInputError) as stop:
            read_table(str(file), factors=[])
        found = str(stop.value)
        assert found.startswith(
            f"{file}: the column 'a' seems to contain numbers but 1 of its 60 cells"
        )
        assert f": {text!r} in row 4 (line 5); correct the file" in found
        assert found.endswith("or take it for a factor by --factor a") and "\n" not in found

    def test_some_are_shown(self, tmp_path):
        file = written(tmp_path, "\n" + rows_with(a=[(k, f"x{k}") for k in range(20)]))
        with pytest.raises(InvalidInputError, match=r"20 of its 60 cells .* and 15 more; ") as stop:
            read_table(str(file))
        assert "'x0' in row 1 (line 3), 'x1' in row 2 (line 4)" in str(stop.value)
        assert "--factor" not in str(stop.value)  # a command without it

    @pytest.mark.parametrize("text", ["1_000", "1,000", "0x10", "12 %", "$3"])
    def test_all_of_them(self, tmp_path, text):
        file = written(tmp_path, rows_with(a=[(k, text) for k in range(60)]))
        with pytest.raises(
            InvalidInputError, match="'a' seems to contain numbers but 60 of its 60"
        ):
            read_table(str(file))

    def test_texts_are_texts(self, tmp_path):
        content = rows_with(
            a=[(k, f"x{k % 3}") for k in range(30)], b=[(k, "no") for k in range(60)]
        )
        file = written(tmp_path, content)
        with pytest.warns(UserWarning) as caught:
            table = read_table(str(file), factors=[])
        assert [str(w.message) for w in caught] == [
            f"{file}: 30 of the 60 cells of the column 'a' are numbers, but it is read as texts, a factor of "
            "33 levels, because of 'x0' in row 1 (line 2), 'x1' in row 2 (line 3), 'x2' in row 3 (line 4), "
            "'x0' in row 4 (line 5), 'x1' in row 5 (line 6) and 25 more; correct the file if it should be "
            "numbers, or confirm the factor by --factor a"
        ]
        assert table["a"][0] == "x0" and table["a"][59] == "29.5" and set(table["b"]) == {"no"}
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert read_table(str(file), factors=["a"])["a"].equals(table["a"])

    def test_a_decimal_comma(self, tmp_path):
        content = rows_with().replace(",", ";").replace(".", ",")
        file = written(tmp_path, content)
        assert read_table(str(file), ";", ",")["a"].tolist() == [float(v) for v in NUMBERS]
        file = written(tmp_path, content.replace("3,5;1,5;", "3.5;1,5;", 1))
        with pytest.raises(InvalidInputError, match=r"column 'y' .* 1 of its 60 .*'3\.5' in row 4"):
            read_table(str(file), ";", ",")

    def test_missing_values_and_long_integers(self, tmp_path):
        file = written(tmp_path, rows_with(a=[(0, "NA"), (1, ""), (2, "1" * 30)]))
        a = read_table(str(file))["a"]
        assert a.dtype == float and a.isna().tolist()[:3] == [True, True, False]
        assert a[2] == float("1" * 30)

    def test_a_factor_by_name(self, tmp_path):
        file = written(tmp_path, rows_with(a=[(k, f"0{k % 2}") for k in range(60)]))
        table = read_table(str(file), factors=["a"])
        assert set(table["a"]) == {"00", "01"} and table["b"].dtype == float
        with pytest.raises(InvalidInputError, match=r"^--factor='z' .* one of y, a, b$"):
            read_table(str(file), factors=["z"])

    @pytest.mark.parametrize("column", ["a", "y"])
    def test_in_every_command(self, run, tmp_path, column):
        good = written(tmp_path, rows_with())
        model, bad = tmp_path / "model.json", tmp_path / "bad.csv"
        bad.write_text(rows_with(**{column: [(3, "1_000")]}))
        native = ("--target", "y", "--engine", "native")
        assert run("fit", good, *native, "--save", model)[0] == 0
        commands = {
            "fit": ("fit", bad, *native),
            "report": ("report", model, "--data", bad),
            "df": ("df", "least-squares", "--data", bad, "--target", "y"),
            "correct": ("correct", bad, "--target", "y"),
            "crosscheck": ("crosscheck", bad, "--target", "y"),
        }
        if column == "a":
            commands["predict"] = ("predict", model, bad)
        for name, arguments in commands.items():
            code, out, err = run(*arguments)
            assert (code, out, len(err.splitlines())) == (2, "", 1), name
            assert f"column {column!r} seems" in err and "'1_000' in row 4 (line 5)" in err
            assert ("--factor" in err) == (name in ("fit", "df", "crosscheck"))
        if column == "y":  # which predictions do not need
            assert run("predict", model, bad)[0] == 0

    def test_columns_that_are_not_used(self, run, tmp_path):
        file = written(tmp_path, rows_with(b=[(3, "1_000")]))
        native = ("--target", "y", "--engine", "native")
        assert run("fit", file, *native, "--without", "b", "--save", tmp_path / "m.json")[0] == 0
        assert run("predict", tmp_path / "m.json", file)[0] == 0

    def test_a_factor_from_fit_to_predict(self, run, tmp_path):
        """Its levels are texts in both, also where the new rows have only numbers."""
        file = written(tmp_path, rows_with(a=[(k, ("01", "02", "3a")[k % 3]) for k in range(60)]))
        model = tmp_path / "model.json"
        arguments = ("fit", file, "--target", "y", "--engine", "native", "--save", model)
        assert "column 'a' seems" in run(*arguments)[2]
        assert run(*arguments, "--factor", "a")[0] == 0
        new = tmp_path / "new.csv"
        new.write_text("a,b\n01,3\n02,4\n")
        assert run("predict", model, new)[0] == 0
        assert run("report", model, "--data", new)[0] == 0

    def test_classes_by_factor(self, run, tmp_path):
        file = written(tmp_path, rows_with(y=[(k, ("1", "2", "3+")[k % 3]) for k in range(60)]))
        model = tmp_path / "model.json"
        arguments = ("fit", file, "--target", "y", "--engine", "native", "--save", model)
        assert "column 'y' seems" in run(*arguments)[2]
        assert run(*arguments, "--factor", "y")[0] == 0
        assert set(run("predict", model, file)[1].split()) <= {"class", "1", "2", "3+"}
        assert run("report", model, "--data", file, "--target", "y")[0] == 0

    def test_levels_of_a_python_model(self, run, tmp_path):
        frame = pd.DataFrame({"a": pd.Categorical(np.arange(60) % 3 + 0.0), "b": np.arange(60.0)})
        Earth(engine="native").fit(frame, np.arange(60) % 3 + frame["b"]).save(tmp_path / "m.json")
        frame.to_csv(tmp_path / "new.csv", index=False)
        code, out, err = run("predict", tmp_path / "m.json", tmp_path / "new.csv")
        assert code == 0 and len(out.splitlines()) == 61, err


class TestLargeTables:
    def test_a_small_file_that_unpacks_to_much(self, tmp_path, monkeypatch):
        monkeypatch.setenv("PYEARTHDOF_MAX_TABLE_MB", "1")
        content = b"y,a\n" + b"1,2\n" * 400_000
        for end, module in ((".gz", gzip), (".bz2", bz2), (".xz", lzma)):
            file = tmp_path / f"data.csv{end}"
            file.write_bytes(module.compress(content))
            with pytest.raises(InvalidInputError, match=r"more than 1 MB.*PYEARTHDOF_MAX_TABLE_MB"):
                read_table(str(file))
        plain = written(tmp_path, content)  # its size is known
        assert len(read_table(str(plain))) == 400_000
        monkeypatch.setenv("PYEARTHDOF_MAX_TABLE_MB", "2")
        assert len(read_table(str(file))) == 400_000
        monkeypatch.setenv("PYEARTHDOF_MAX_TABLE_MB", "much")
        with pytest.raises(
            InvalidInputError, match="'much' but it should be a number of megabytes"
        ):
            read_table(str(file))

    def test_a_bomb_is_not_read_whole(self, tmp_path, monkeypatch):
        monkeypatch.setenv("PYEARTHDOF_MAX_TABLE_MB", "1")
        file = tmp_path / "data.csv.gz"
        file.write_bytes(gzip.compress(b"1,2\n" * 10_000_000))
        tracemalloc.start()
        with pytest.raises(InvalidInputError, match="more than 1 MB"):
            read_table(str(file))
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
        tracemalloc.stop()

    def test_a_million_columns(self, tmp_path):
        file = written(tmp_path, ",".join(f"x{k}" for k in range(1_000_000)) + "\n")
        with pytest.raises(InvalidInputError, match=r"has 1000000 columns .* at most 100000$"):
            read_table(str(file))


class TestStandardInput:
    def test_tables_and_models(self, run, tmp_path):
        content = rows_with().encode()
        file, model = written(tmp_path, content), tmp_path / "model.json"
        arguments = ("--target", "y", "--engine", "native", "--json")
        expected = run("fit", file, *arguments)
        assert expected[0] == 0 and run("fit", "-", *arguments, stdin=content) == expected
        model.write_text(expected[1])
        expected = run("predict", model, file)
        assert expected[0] == 0 and run("predict", model, "-", stdin=content) == expected
        assert run("predict", "-", file, stdin=model.read_bytes()) == expected
        page = tmp_path / "page.html"
        assert run("report", "-", "--out", page, stdin=model.read_bytes())[0] == 0
        assert page.stat().st_size > 1000
        code, _, err = run("predict", "-", "-", stdin=content)
        assert code == 2 and "only one of them should be standard input" in err
        code, _, err = run("report", "-", stdin=model.read_bytes())
        assert code == 2 and "--out is not given" in err

    def test_errors_name_it(self, run):
        code, _, err = run("fit", "-", "--target", "y", stdin=b"y,a\n1,2,3\n")
        assert code == 2 and "standard input is not a readable CSV file: line 2" in err
        code, _, err = run("predict", "-", "ozone", stdin=b"\xff")
        assert code == 2 and "standard input is not a saved MARS model" in err

    @pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="there is no /dev/stdin")
    def test_by_its_name_as_a_device(self, tmp_path):
        code = "from pyearthdof.cli import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", code, "fit", "/dev/stdin", "--target", "y", "--engine", "native"],
            input=rows_with().encode(), capture_output=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0 and b"h(" in done.stdout, done.stderr

    def test_a_folder_is_no_table(self, tmp_path):
        with pytest.raises(InvalidInputError, match="there is no file"):
            read_table(str(tmp_path))


@pytest.mark.parametrize("content", [',"y"\n"1",2\n', '"","y","a"\n"1",2,3\n', '"y"\n"1",2\n'])
def test_row_names_of_r_are_explained(tmp_path, content):
    """By write.csv, with a second column, and by write.table(sep=",")."""
    with pytest.raises(InvalidInputError, match=r"R's write\.csv .* row\.names=FALSE .* --without"):
        read_table(str(written(tmp_path, content)))
