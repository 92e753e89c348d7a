import pytest

from tf_frame.errors import DataError
from tf_frame_detection.legacy import label_map_util


@pytest.fixture
def read(tmp_path):
    def read(text):
        path = tmp_path / "labels.pbtxt"
        path.write_text(text)
        return label_map_util.get_label_map_dict(str(path))

    return read


def test_names_have_numbers(read):
    text = """
    item {
      id: 1
      name: 'palm, tall'
      display_name: "Palm"
    }
    item { name: "fir" id: 7 }
    """
    assert read(text) == {"palm, tall": 1, "fir": 7}
    assert read('item: { name: "background" id: 0 }') == {"background": 0}


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("cat\ndog\n", DataError, "labels.pbtxt has no item"),
        ("item { id: 1 }", DataError, "the item 'id: 1' has no id or no name"),
        ("item { id: 1 name: 'a' } item { id: 1 name: 'b' }", DataError, "has the id 1 twice"),
        ("item { id: -1 name: 'cat' }", ValueError, "Label map ids should be >= 0"),
        ("item { id: 0 name: 'cat' }", ValueError, "id 0 is reserved for the background"),
    ],
)
def test_a_label_map_that_is_wrong(read, text, error, words):
    with pytest.raises(error, match=words):
        read(text)


def test_a_label_map_that_is_missing(tmp_path):
    with pytest.raises(DataError, match=r"cannot read the label map .*missing"):
        label_map_util.get_label_map_dict(str(tmp_path / "missing"))
