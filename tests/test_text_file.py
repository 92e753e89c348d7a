"""`tf_frame.text_file`: encodings, line ends, JSON and XML as other programs write them."""

import os
import sys

import pytest

from tf_frame.errors import DataError
from tf_frame.text_file import (
    normal_name,
    parse_integer,
    read_csv,
    read_json,
    read_lines,
    read_names,
    read_text,
    read_xml,
    split_words,
)

TEXT = "c\u00f4ne\n\u9525 \U0001f600\n"


@pytest.fixture
def write(tmp_path):
    """Returns a function that writes bytes or text into a file and returns its path."""

    def write_file(content, encoding="utf-8"):
        path = tmp_path / "file"
        path.write_bytes(content if isinstance(content, bytes) else content.encode(encoding))
        return path

    return write_file


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_decides_the_encoding(write, encoding):
    assert read_text(write(TEXT, encoding)) == TEXT


@pytest.mark.parametrize("order", ["le", "be"])
@pytest.mark.parametrize("bits", [16, 32])
def test_both_byte_orders_are_read(write, bits, order):
    assert read_text(write("\ufeff" + TEXT, f"utf-{bits}-{order}")) == TEXT


def test_lines_end_at_line_feed_and_carriage_return_only(write):
    content = " one\u2028two \nbig\x85\r\nfree\x0bhold\x1c\r\n\n\rlast "
    assert read_lines(write(content)) == [
        *(" one\u2028two ", "big\x85", "free\x0bhold\x1c", "", "", "last "),
    ]
    assert read_names(write(content)) == [
        *("one\u2028two", "big\x85", "free\x0bhold\x1c", "last"),
    ]
    assert read_lines(write("a\n")) == ["a"]
    assert read_lines(write("")) == []


def test_words_are_divided_by_blanks_and_tabs(write):
    assert split_words(" a\t b\u00a0c\u2028 ") == ["a", "b\u00a0c\u2028"]
    assert split_words(" ") == []


def test_tables_keep_line_ends_and_blanks_in_cells(write):
    content = '\ufeffa, b\r\n"c\r\nd",\u2028\n'
    assert read_csv(write(content)) == [["a", " b"], ["c\r\nd", "\u2028"]]
    check_fault(read_csv, write("a" * 200_000), "is no CSV")


def test_names_are_compared_in_one_form():
    assert normal_name("cafe\u0301") == normal_name("caf\u00e9") == "caf\u00e9"


@pytest.mark.parametrize("value", ["7", " 7 ", "+7", "7.0", "7.", 7.0, 7, "007"])
def test_a_whole_number_is_read_from_text_and_floats(value):
    assert parse_integer(value) == 7


@pytest.mark.parametrize(
    "value",
    [
        *("", "7.5", "seven", "1e3", "\u0667", 7.5, 1e300, float("nan"), float("inf")),
        *(True, None, [7], "7" * 5000),
    ],
)
def test_no_whole_number_is_refused(value):
    with pytest.raises(ValueError):
        parse_integer(value)


FAULTS_OF_TEXT = [
    ("abc\u00e9".encode("iso-8859-1") + b"\n", "in UTF-8, first at byte 3, 0xe9"),
    (b"\xef\xbb\xbfab\xff", "in UTF-8, first at byte 5, 0xff"),
    (b"\xff\xfea\0b", "in UTF-16-LE, first at byte 4, 0x62"),
    ("cat".encode("utf-16-le"), "character 1 is a zero"),
]


@pytest.mark.parametrize(("content", "message"), FAULTS_OF_TEXT)
def test_what_is_no_text_is_refused_with_its_place(write, content, message):
    check_fault(read_text, write(content), message)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing", "No such file"),
        ("", "Is a directory"),
        ("a\0b", "null"),
        ("\ud800", "surrogate"),
    ],
)
def test_a_file_that_cannot_be_opened_is_refused(tmp_path, name, message):
    check_fault(read_text, tmp_path / name, message)


def test_a_pipe_among_the_data_is_refused_and_that_of_a_command_is_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    check_fault(read_text, tmp_path / "pipe", "it is a pipe or a device and no file")
    (tmp_path / "zeros").symlink_to("/dev/zero")
    check_fault(read_text, tmp_path / "zeros", "it is a pipe or a device and no file")
    reader, writer = os.pipe()
    os.write(writer, b"cat\n")
    os.close(writer)
    try:
        assert read_lines(f"/dev/fd/{reader}") == ["cat"]
    finally:
        os.close(reader)


def test_json_is_read(write):
    content = '\ufeff{"a": [1, 1.5, NaN, -Infinity, "\u2028"], "b": {"a": 1, "a": 1}}'
    values = read_json(write(content))["a"]
    assert values[:2] == [1, 1.5]
    assert values[-1] == "\u2028"
    assert read_json(write("[1.5, 1e9]"), finite=True) == [1.5, 1e9]
    assert read_json(write(r'["\ud83d\ude00", "\\ud800"]')) == ["\U0001f600", "\\ud800"]


FAULTS_OF_JSON = [
    ("", "it is empty"),
    ("{'a': 1}", "no JSON: line 1, column 2: Expecting"),
    ('{"a": 1,\n}', "no JSON: line "),
    ("[" * 200_000, "nested too deeply"),
    ('{"a": ' + "[ " * 32 + "]" * 32 + "}", "nested too deeply"),
    ("[1" + "0" * 5000 + "]", "a number of thousands of digits"),
    ('{"a": 1, "a": 2}', "the key 'a' twice"),
    (r'{"a": ["\udcff"]}', "half of a character, '\\udcff'"),
    (r'{"\ud83d": 1}', "half of a character"),
]


@pytest.mark.parametrize(("content", "message"), FAULTS_OF_JSON)
def test_what_is_no_json_is_refused(write, content, message):
    check_fault(read_json, write(content), message)


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999", "1" + "0" * 400 + ".0"])
def test_numbers_that_are_not_finite_are_refused_on_request(write, number):
    def read(path):
        return read_json(path, finite=True)

    check_fault(read, write(f"[{number}]"), "is not finite")


def xml(encoding, name="c\u00f4ne"):
    return f'<?xml version="1.0" encoding="{encoding}"?>\n<a><b>{name}</b></a>'


@pytest.mark.parametrize(
    ("declared", "written", "name"),
    [
        *[(name, name, "\u4e2d") for name in ("gb2312", "GBK", "big5", "shift_jis", "euc-kr")],
        *[(name, name, "c\u00f4ne") for name in ("iso-8859-1", "windows-1252", "UTF-8", "utf-16")],
        ("utf-8", "utf-8-sig", "c\u00f4ne"),
        ("utf-16", "utf-16-be", "c\u00f4ne"),
        ("utf-16", "utf-16-le", "c\u00f4ne"),
        ("utf-16", "utf-8", "c\u00f4ne"),  # .NET writes this.
        ("gb2312", "gbk", "\u9555"),  # No character of GB 2312.
    ],
)
def test_xml_is_read_in_the_encoding_that_it_declares(write, declared, written, name):
    assert read_xml(write(xml(declared, name), written)).findtext("b") == name


def test_xml_as_programs_write_it(write):
    head = '\r\n<?xml version="1.0"?>\r\n<!DOCTYPE a SYSTEM "a.dtd">\r\n'
    content = f"{head}<a>\r\n\t<b>&amp;&#233;</b></a>"
    assert read_xml(write(content)).findtext("b") == "&\u00e9"


LAUGHS = "<!DOCTYPE a [<!ENTITY l 'ha'><!ENTITY m '&l;&l;'>]><a>&m;</a>"
OUTSIDE = "<!DOCTYPE a [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><a>&x;</a>"
PARAMETER = "<!DOCTYPE a [<!ENTITY % x SYSTEM 'http://localhost/a'> %x;]><a/>"
FAULTS_OF_XML = [
    (LAUGHS.encode(), "declares the entity 'l'"),
    (LAUGHS.encode("utf-16"), "declares the entity 'l'"),
    (OUTSIDE.encode(), "declares the entity 'x'"),
    (PARAMETER.encode(), "declares the entity 'x'"),
    (b"", "it is empty"),
    (b"<a><b></a>", "line 1, column"),
    (b"<a>&x;</a>", "undefined entity"),
    (xml("no-such").encode(), "the encoding no-such"),
    (xml("hex").encode(), "the encoding hex"),
    (xml("us-ascii").encode("iso-8859-1"), "in US-ASCII, first at byte 49, 0xf4"),
    (b"<a>\xe9</a>", "in UTF-8, first at byte 3"),
]


@pytest.mark.parametrize(("content", "message"), FAULTS_OF_XML)
def test_what_is_no_plain_xml_is_refused(write, content, message):
    check_fault(read_xml, write(content), message)


def test_xml_of_any_depth_is_read_or_refused(write):
    depth = 20 * sys.getrecursionlimit()
    assert read_xml(write("<a>" * depth + "</a>" * depth)).tag == "a"


def check_fault(read, path, message):
    """Checks that a file is refused in one line, which names it."""
    with pytest.raises(DataError) as caught:
        read(path)
    text = str(caught.value)
    assert message in text
    assert path.name in text or repr(path.name)[1:-1] in text
    assert "\n" not in text
