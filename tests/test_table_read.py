"""Files: every way a CSV can be written or broken, gzip, standard input, Parquet by two readers."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
import os
import sys
import threading
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenleaf.errors import InputError, MissingExtraError
from evenleaf.table import Table, read_columns
from evenleaf.table.read import MISSING_MARKERS, parse_column

nan = float("nan")
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """A file with these bytes (or this text in UTF-8)."""

    def written(content: str | bytes, name: str = "people.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
        return path

    return written


def plain(columns: dict[str, np.ndarray]) -> dict[str, list[Any]]:
    return {name: values.tolist() for name, values in columns.items()}


def complaint(path: Path | str, **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        read_columns(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


PEOPLE = {"age": [30.0, 41.0], "city": ["Lyon", "Aix"]}


@pytest.mark.parametrize(
    "content",
    [
        "age,city\n30,Lyon\n41,Aix\n",
        "age,city\n30,Lyon\n41,Aix",
        "age,city\r\n30,Lyon\r\n41,Aix\r\n",
        "age,city\r30,Lyon\r41,Aix\r",
        "age;city\n30;Lyon\n41;Aix\n",
        "age\tcity\n30\tLyon\n41\tAix\n",
        "age, city\n30, Lyon\n41, Aix\n",
        " age , city \n 30 , Lyon \n 41 , Aix \n",
        '"age","city"\n"30","Lyon"\n"41","Aix"\n',
        'age,city\n30,"Lyon"\n41,Aix\n',
        "\n\nage,city\n30,Lyon\n\n41,Aix\n\n\n",
        "age,city\n30,Lyon\n   \n41,Aix\n  ",
        "\ufeffage,city\n30,Lyon\n41,Aix\n",
        '\ufeff"age","city"\r\n"30","Lyon"\r\n"41","Aix"\r\n\r\n',
        "age,city\n3e1,Lyon\n+41.0,Aix\n",
    ],
)
def test_ways_to_write_the_same_table(write: Write, content: str) -> None:
    columns = read_columns(write(content))
    assert plain(columns) == PEOPLE
    assert [values.dtype for values in columns.values()] == [np.float64, object]
    assert plain(read_columns(write(gzip.compress(content.encode()), "people.csv.gz"))) == PEOPLE


def test_a_file_called_tsv_is_split_at_tabs_only(write: Write) -> None:
    path = write("age\ta, b, c, d\n30\tx\n", "people.TSV")
    assert plain(read_columns(path)) == {"age": [30.0], "a, b, c, d": ["x"]}
    zipped = write(gzip.compress(path.read_bytes()), "people.tsv.gz")
    assert plain(read_columns(zipped)) == plain(read_columns(path))


def test_quotes_keep_separators_quotes_and_new_lines(write: Write) -> None:
    path = write('"name, first";"the ""home""\ntown"\n"a;b";"c\nd"\n"";"say ""hi"""\n')
    assert plain(read_columns(path)) == {
        "name, first": ["a;b", None],
        'the "home"\ntown': ["c\nd", 'say "hi"'],
    }


def test_separators_inside_quotes_do_not_decide(write: Write) -> None:
    assert list(read_columns(write('"a,b,c,d";"e,f"\n1;2\n'))) == ["a,b,c,d", "e,f"]


def test_one_column_needs_no_separator(write: Write) -> None:
    assert plain(read_columns(write('age\n1\n""\n\n3\n'))) == {"age": [1.0, pytest.approx(nan, nan_ok=True), 3.0]}


@given(
    st.lists(
        st.lists(st.sampled_from(["a", 'say "hi"', "x,y", "p;q", "l\nm", "t\tu", "é", "r"]), min_size=3, max_size=3),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from([",", ";", "\t"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
)
def test_what_a_csv_writer_writes_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], separator: str, end: str, quoting: Any
) -> None:
    path = tmp_path_factory.mktemp("csv") / "people.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=separator, lineterminator=end, quoting=quoting).writerows([["u", "v", "w"], *rows])
    assert [list(row) for row in zip(*plain(read_columns(path)).values(), strict=True)] == rows


# --- what a value is -------------------------------------------------------------------------------


@pytest.mark.parametrize("marker", ["", "?", "NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", " ? ", '""', '"NA"'])
def test_markers_of_a_missing_value(write: Write, marker: str) -> None:
    columns = read_columns(write(f"n,c\n1,a\n{marker},{marker}\n2,b\n"))
    np.testing.assert_array_equal(columns["n"], [1, nan, 2])
    assert columns["c"].tolist() == ["a", None, "b"]
    table = Table.of(columns)
    assert [column.has_missing for column in table.schema] == [True, True]


def test_other_markers_may_be_given(write: Write) -> None:
    path = write("n,c\n-9,NA\n1,-9\n")
    np.testing.assert_array_equal(read_columns(path, missing=["-9"])["n"], [nan, 1])
    assert read_columns(path, missing="-9")["c"].tolist() == ["NA", None]
    assert read_columns(path, missing=[])["c"].tolist() == ["NA", "-9"]


def test_a_column_without_a_value(write: Write) -> None:
    column = read_columns(write("a,b\n,1\n?,2\n"))["a"]
    assert column.dtype == np.float64
    assert np.isnan(column).all()


def test_one_slip_in_a_column_of_numbers(write: Write) -> None:
    rows = [f"{number},x" for number in range(20)]
    path = write("\n".join(["age,c", *rows[:7], "4l,x", *rows[7:]]))
    assert complaint(path) == (
        "column 'age' holds numbers, but row 8 holds '4l'; "
        "mend it, mark it as missing, or declare the column categorical"
    )
    assert read_columns(path, categorical=["age"])["age"][7] == "4l"
    assert np.isnan(read_columns(path, missing=["4l"])["age"][7])
    assert list(read_columns(path, leave_out=["age"])) == ["c"]


@pytest.mark.parametrize(
    ("numbers", "words", "is_text"), [(1, 1, True), (9, 1, True), (10, 1, False), (11, 1, False), (18, 2, True)]
)
def test_how_many_slips_make_a_text(numbers: int, words: int, is_text: bool) -> None:
    texts = ["1"] * numbers + ["x"] * words + [""] * 50
    if is_text:
        assert parse_column("c", texts, MISSING_MARKERS).dtype == object
    else:
        with pytest.raises(InputError, match=f"column 'c' holds numbers, but row {numbers + 1} holds 'x'"):
            parse_column("c", texts, MISSING_MARKERS)


@pytest.mark.parametrize("values", [["1,5", "2,25"], ["1,000", "2,500", "7"], ["-1,5", "3"], ["1,000,000"] * 20])
def test_a_decimal_comma_is_not_taken_for_a_level(values: list[str]) -> None:
    with pytest.raises(InputError, match=r"column 'c' writes numbers with a comma \(row 1 holds '.*'\); write them"):
        parse_column("c", values, MISSING_MARKERS)
    assert parse_column("c", values, MISSING_MARKERS, declared=True).tolist() == values


def test_codes_with_an_underscore_are_texts() -> None:
    assert parse_column("c", ["12_34", "56_78"], MISSING_MARKERS).tolist() == ["12_34", "56_78"]


def test_a_declared_column_keeps_its_spelling(write: Write) -> None:
    path = write("zip,n\n01234,1\n1234,2\n1234.0,3\n")
    assert read_columns(path, categorical=["zip"])["zip"].tolist() == ["01234", "1234", "1234.0"]
    assert read_columns(path, categorical="zip")["zip"].tolist() == ["01234", "1234", "1234.0"]
    assert complaint(path, categorical=["Zip"]) == "there is no column 'Zip'; did you mean 'zip'?"
    assert complaint(path, leave_out=["zap"]) == "there is no column 'zap'; did you mean 'zip'?"


@pytest.mark.parametrize("cell", ["inf", "-inf", "Infinity", "1e999"])
def test_an_infinite_cell_is_named_by_the_table(write: Write, cell: str) -> None:
    columns = read_columns(write(f"age,c\n1,a\n{cell},b\n"))
    with pytest.raises(InputError, match="column 'age' holds an infinite value in row 2"):
        Table.of(columns)


# --- what is no table ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty; a table needs a header line and at least one row"),
        (b"\xef\xbb\xbf", "is empty; a table needs a header line and at least one row"),
        (b"\n \n\n", "is empty; a table needs a header line and at least one row"),
        (b"age,city\n", "has a header but no rows"),
        (b"age,city", "has a header but no rows"),
        (b"age,city\n\n\n", "has a header but no rows"),
        (b",,\n1,2,3\n", "has no header line that names its columns"),
        (b",age\n0,30\n", "column 1 has no name in the header line; name it or remove it"),
        (b"age,\n30,\n", "column 2 has no name in the header line"),
        (b"age,city,age\n1,2,3\n", "two columns are called 'age'; rename one of them"),
        (b"age, age \n1,2\n", "two columns are called 'age'; rename one of them"),
        (b"a,b\n1,2\n\n3\n", "is not a table: row 2 has 1 values where the header has 2"),
        (b"a,b\n1,2\n3,4,5\n", "is not a table: row 2 has 3 values where the header has 2"),
        (b"a,b\n,\n,,\n", "is not a table: row 2 has 3 values where the header has 2"),
        (b'a,b\n1,"x\n2,y\n3,z\n', "unexpected end of data (is a quote left open?)"),
        (b'a,b\n1,"x"y\n', "is not a table: line 2: ',' expected after '\"'"),
        (b"a,b\n1," + b"x" * 200_000 + b"\n", "field larger than field limit"),
        ("prénom,âge\nZoé,1\n".encode("latin-1"), "is not text in UTF-8 (byte 2); save it as CSV in UTF-8"),
        (b"a,b\n" + b"1,x\n" * 5000 + b"1,\xe9\n", "is not text in UTF-8"),
        ("a,b\n1,2\n".encode("utf-16"), "is not text in UTF-8"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "is not text in UTF-8"),
        (b"PK\x03\x04\x00\x00", "is not a table: it holds binary data (CSV, TSV and Parquet are read)"),
        (b"a,b\n1,2\n3,\x00\n", "is not a table: it holds binary data"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0), "is not text in UTF-8"),
    ],
)
def test_a_file_that_is_no_table(write: Write, content: bytes, words: str) -> None:
    path = write(content)
    message = complaint(path)
    assert words in message
    assert str(path) in message or "two columns" in message


def test_a_gzip_file_that_is_cut_or_broken(write: Write) -> None:
    rng = np.random.default_rng(0)
    text = "a,b\n" + "".join(f"{number},{word}\n" for number, word in rng.integers(0, 10**9, (5000, 2)))
    whole = gzip.compress(text.encode())
    for size in (5, 12, len(whole) // 2, len(whole) - 4):
        assert "is not a whole gzip file" in complaint(write(whole[:size], "cut.csv.gz"))
    # Still a table, but not the one that was zipped: only the checksum can tell.
    changed = gzip.compress(b"a,b\n1,2\n", compresslevel=0).replace(b"1,2", b"1,3")
    assert "is not a whole gzip file: CRC check failed" in complaint(write(changed, "changed.csv.gz"))
    assert "is not a whole gzip file" in complaint(write("a,b\n1,2\n", "plain.csv.gz"))
    assert "is empty" in complaint(write(gzip.compress(b""), "empty.csv.gz"))


def test_paths_that_lead_nowhere(tmp_path: Path) -> None:
    assert complaint(tmp_path) == f"{tmp_path} is a folder; name the file with the table"
    nowhere = tmp_path / "nowhere.csv"
    assert complaint(nowhere) == f"there is no file {nowhere}"
    assert complaint(tmp_path / "nowhere.parquet") == f"there is no file {tmp_path / 'nowhere.parquet'}"
    assert "cannot be read" in complaint(tmp_path / ("x" * 5000))
    (tmp_path / "file.csv").write_text("a\n1\n")
    assert "there is no file" in complaint(tmp_path / "file.csv" / "inner.csv")


def test_a_file_that_may_not_be_opened(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    for path in (write("a\n1\n"), write("a\n1\n", "people.parquet")):
        monkeypatch.setattr(Path, "open", refuse)
        assert "Permission denied" in complaint(path)
        monkeypatch.undo()


if hasattr(os, "mkfifo"):  # Windows has no such pipes, so there is nothing to test there

    def test_a_pipe_has_no_size_but_is_not_empty(tmp_path: Path) -> None:
        pipe = tmp_path / "pipe.csv"
        os.mkfifo(pipe)
        writer = threading.Thread(target=pipe.write_text, args=("age\n30\n",), daemon=True)
        writer.start()
        assert plain(read_columns(pipe)) == {"age": [30.0]}
        writer.join()


# --- standard input --------------------------------------------------------------------------------


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO("\ufeffage;città\r\n30;Forlì\r\n".encode())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(raw, encoding="ascii"))
    assert plain(read_columns("-")) == {"age": [30.0], "città": ["Forlì"]}
    assert not raw.closed
    monkeypatch.setattr(sys, "stdin", io.StringIO("age\n30\n"))
    assert plain(read_columns("-")) == {"age": [30.0]}


def test_standard_input_that_is_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert complaint("-") == "standard input is empty; a table needs a header line and at least one row"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,\xe9\n")))
    assert "standard input is not text in UTF-8" in complaint("-")


# --- Parquet ---------------------------------------------------------------------------------------


def without(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    """Make the reader believe that some packages are not installed."""
    monkeypatch.setattr("evenleaf.table.read.find_spec", lambda name: None if name in packages else find_spec(name))


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    import pandas as pd

    frame = pd.DataFrame(
        {
            "age": [30.0, None, 25.0],
            "city": ["Lyon", None, "?"],
            "code": pd.Categorical([3, None, 1]),
            "zip": [1, 2, 3],
            "citizen": [True, False, True],
        }
    )
    path = tmp_path / "sex=F" / "people[1].parquet"
    path.parent.mkdir()
    frame.to_parquet(path)
    return path


@pytest.mark.needs("pandas", "polars", "pyarrow")
@pytest.mark.parametrize("gone", ["nothing", "pyarrow"])
def test_parquet_by_either_reader(parquet: Path, gone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, gone)
    columns = read_columns(parquet, categorical=["zip"])
    assert list(columns) == ["age", "city", "code", "zip", "citizen"]
    np.testing.assert_array_equal(columns["age"], [30, nan, 25])
    assert columns["city"].tolist() == ["Lyon", None, "?"]
    assert columns["zip"].tolist() == ["1", "2", "3"]
    assert columns["citizen"].tolist() == [True, False, True]
    table = Table.of(columns)
    # Parquet keeps the categories of texts only: those of numbers come back as numbers by either reader.
    assert [column.is_categorical for column in table.schema] == [False, True, False, True, True]
    assert read_columns(parquet, categorical=["code"])["code"].tolist() == ["3", None, "1"]


@pytest.mark.needs("pandas", "polars", "pyarrow")
@pytest.mark.parametrize("gone", ["nothing", "pyarrow"])
def test_the_row_labels_of_pandas_are_no_column(tmp_path: Path, gone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import pandas as pd

    without(monkeypatch, gone)
    path = tmp_path / "people.pq"
    pd.DataFrame({"age": [1, 2, 3]}).iloc[[2, 0, 1]].to_parquet(path)
    assert plain(read_columns(path)) == {"age": [3.0, 1.0, 2.0]}


@pytest.mark.needs("pyarrow")
def test_a_date_in_a_parquet_file_may_be_left_out(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"born": [dt.date(2000, 1, 1)], "age": [20]}), path)
    assert "column 'born' holds dates or times" in complaint(path)
    assert plain(read_columns(path, leave_out=["born"])) == {"age": [20.0]}
    assert "did you mean 'born'" in complaint(path, leave_out=["Born"])
    pq.write_table(pa.table({"age": pa.array([], pa.int64())}), path)
    assert complaint(path) == f"{path} has columns but no rows"


@pytest.mark.needs("polars", "pyarrow")
@pytest.mark.parametrize("gone", ["nothing", "pyarrow"])
def test_what_is_no_parquet(write: Write, gone: str, monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, gone)
    path = write("age,city\n1,2\n", "people.parquet")
    assert f"{path} is not a Parquet file" in complaint(path)
    assert "is empty" in complaint(write("", "empty.parquet"))


def test_parquet_without_a_reader(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "pyarrow", "polars")
    with pytest.raises(MissingExtraError) as caught:
        read_columns(write("PAR1", "people.parquet"))
    assert str(caught.value) == "reading Parquet needs pyarrow or polars: pip install 'evenleaf[pyarrow]'"


@pytest.mark.needs("pandas")
def test_a_frame_and_its_csv_give_the_same_table(tmp_path: Path) -> None:
    import pandas as pd

    frame = pd.DataFrame({"age": [30, None, 25], "city": ["Lyon", None, "Aix, centre"], "citizen": [True, False, True]})
    path = tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    found, expected = Table.of(read_columns(path)), Table.of(frame)
    assert found.schema == expected.schema
    for values, wanted in zip(found.data, expected.data, strict=True):
        np.testing.assert_array_equal(values, wanted)
