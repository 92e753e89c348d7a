"""Large JSON files are read element by element, with the faults of `read_json`."""

import json

import pytest

from tf_frame import json_lists
from tf_frame.errors import DataError
from tf_frame.json_lists import read_json_lists
from tf_frame.text_file import read_json

CONTENT = {
    "info": {"year": 2017, "note": 'a, ] } " \\ \u00fc\u732b'},
    "images": [{"id": n, "name": f"\u732b{n}" * (n % 7), "list": [1.5, [n]]} for n in range(50)],
    "count": 12.5e3,
    "empty": [],
    "mixed": [None, True, "x", 3, -4.25, [], {}],
}


@pytest.fixture(params=[7, 64, 1 << 20])
def chunks(request, monkeypatch):
    """Sizes of the parts that are parsed at a time."""
    monkeypatch.setattr(json_lists, "_CHUNK_BYTES", request.param)


@pytest.mark.usefixtures("chunks")
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("indent", [None, 2])
def test_lists_are_those_of_the_file(tmp_path, encoding, indent):
    path = tmp_path / "x.json"
    path.write_text(json.dumps(CONTENT, indent=indent, ensure_ascii=False), encoding=encoding)
    lists = {name: list(elements) for name, elements in read_json_lists(path)}
    assert lists == {name: value for name, value in CONTENT.items() if isinstance(value, list)}
    # Elements that nobody takes are passed over.
    assert [name for name, _ in read_json_lists(path)] == ["images", "empty", "mixed"]


@pytest.mark.usefixtures("chunks")
@pytest.mark.parametrize("text", ["[1, 2]", "3", '"x"', "{}", '{"a": 1}'])
def test_content_without_a_list_has_none(tmp_path, text):
    (tmp_path / "x.json").write_text(text)
    assert list(read_json_lists(tmp_path / "x.json")) == []


FAULTS = [
    '{"a": [1, 2',
    '{"a": [1 2]}',
    '{"a": [1,]}',
    '{"a": [1], }',
    '{"a": [1]} x',
    '{"a": [1]',
    '{"a" [1]}',
    '{"a": [1] "b": 2}',
    "{a: [1]}",
    '{"a": [{"b": 1, "b": 2}]}',
    '{"a": [1], "a": [2]}',
    '{"a": ' + "[" * 100000,
    '{"a": [' + "1" * 5000 + "]}",
    "",
    b'{"a": ["\xff"]}',
    r'{"a": [1, {"b": "\ud800"}]}',
]


@pytest.mark.usefixtures("chunks")
@pytest.mark.parametrize("text", FAULTS, ids=range(len(FAULTS)))
def test_faults_are_those_of_the_whole_file(tmp_path, text):
    path = tmp_path / "x.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(DataError) as whole:
        read_json(path)
    with pytest.raises(DataError) as parts:
        for _, elements in read_json_lists(path):
            list(elements)
    assert str(parts.value) == str(whole.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match="absent.json cannot be read: No such file"):
        list(read_json_lists(tmp_path / "absent.json"))
