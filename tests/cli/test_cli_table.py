"""CSV files of strangers: read as they are, or refused in one sentence with the line."""

import bz2
import gzip
import io
import lzma
import os
import sys
import threading

import numpy as np
import pandas as pd
import pytest

from pyearthdof.cli import main, table
from pyearthdof.cli.table import read_table
from pyearthdof.exceptions import InvalidInputError

REFUSED = {
    "more fields": ("y,a,b\n1,2,3\n4,5,6,7\n8,9,1\n", "line 3 has 4 field(s) but the header has 3"),
    "more fields everywhere": ("y,a\n1,2,3\n4,5,6\n", "line 2 has 3 field(s) but the header has 2"),
    "row names without a header": ('"y","a"\n"1",2,3\n"2",5,6\n', "header has 2 (row names? R's write.csv("),
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
    "no name at the start": (",y,b\n1,2,3\n1,4,5\n", "no name for column 1, which should then hold row"),
    "a blank name at the start": (" ,y,b\n1,2,3\n", "no name for column 1"),
    "no name at the end": ("y,b,\n1,2,3\n", "no name for column 3"),
    "a blank name": ("y,  ,b\n1,2,3\n", "no name for column 2"),
    "no names, no rows": (",,\n", "no name for column 1"),
    "an open quote": ('y,a\n1,"2\n3,4\n', "line 2: unexpected end of data"),
    "text after a quote": ('y,a\n1,"2"3\n', "line 2: ',' expected after '\"'"),
    "NUL": ("y,a\n1,2\n3,\0\n", "line 3 holds a NUL character"),
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
        (b"y,a\n1,caf\xe9\n", "line 2 holds the byte 0xe9, which is not UTF-8"),
        ("y,a\n1,2\n".encode("utf-16"), "line 1 holds the byte 0xff"),
        (b"\x80\n", "line 1 holds the byte 0x80"),
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


def test_row_names_of_r_and_pandas_are_left_out(tmp_path):
    for content in ('"","y","a"\n"1",1.5,2\n"b",4,5\n', FINE.to_csv()):
        with pytest.warns(UserWarning, match="has no name and is left out: it holds row names"):
            found = read_table(str(written(tmp_path, content)))
        pd.testing.assert_frame_equal(found, FINE)


def test_standard_input_and_pipes(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"y,a\n1.5,2\n4,5\n")))
    pd.testing.assert_frame_equal(read_table("-"), FINE)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"y,a\n1.5,2,3,4\n4,5\n")))
    with pytest.raises(
        InvalidInputError, match=r"^standard input is not a readable CSV file: line 2"
    ):
        read_table("-")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=("y,a\n1.5,2\n4,5\n",))
    writer.start()
    pd.testing.assert_frame_equal(read_table(str(pipe)), FINE)
    writer.join()
    with pytest.raises(InvalidInputError, match="is a folder but it should be a CSV file"):
        read_table(str(tmp_path))


def test_a_bomb_is_not_unpacked(tmp_path, monkeypatch):
    file = tmp_path / "data.csv.gz"
    file.write_bytes(gzip.compress(b"y,a\n" + b"0,0\n" * 300_000))
    monkeypatch.setattr(table, "MAX_UNPACKED", 1_000_000)
    with pytest.raises(
        InvalidInputError, match="unpacks to more than 1,000,000 bytes: unpack it first"
    ):
        read_table(str(file))


def test_a_million_columns_are_refused_at_once(tmp_path):
    file = written(tmp_path, ",".join(map(str, range(1_000_000))) + "\n" + "0," * 999_999 + "0\n")
    with pytest.raises(
        InvalidInputError, match="it has 1,000,000 columns but it should have 100,000"
    ):
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
