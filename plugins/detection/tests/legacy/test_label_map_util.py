import numpy as np
import pytest

from built_messages import message_class, parse
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
    # Names may share a number; a class without a name goes by what is shown.
    assert read("item { id: 1 name: 'a' } item { id: 1 name: 'b' }") == {"a": 1, "b": 1}
    assert read("item { id: 3 display_name: 'Palm' }") == {"Palm": 3}


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("cat\ndog\n", DataError, "labels.pbtxt has no item"),
        ("item { id: 1 name: cat }", DataError, "this is no label map"),
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


def test_messages_of_older_versions_of_the_api_have_fewer_fields():
    fields = [("name", "string", ""), ("id", "int32", ""), ("display_name", "string", "")]
    items = [("item", "StringIntLabelMapItem", "repeated")]
    cls = message_class({"StringIntLabelMapItem": fields, "StringIntLabelMap": items})
    label_map = parse(cls, "item { id: 2 name: 'fir' }")
    assert label_map_util.convert_label_map_to_categories(label_map, 2) == [
        {"id": 2, "name": "fir"}
    ]


TREES = """
item {
  id: 3 name: 'palm' display_name: 'Palm' frequency: RARE instance_count: 7
  keypoints { id: 0 label: 'root' } keypoints { id: 1 label: 'top' }
}
item { id: 1 name: 'tree' descendant_ids: 3 descendant_ids: 4 frequency: UNSPECIFIED }
item { id: 4 name: 'fir' ancestor_ids: 1 }
item { id: 4 name: 'spruce' }
"""


@pytest.fixture
def trees(tmp_path):
    path = tmp_path / "trees.pbtxt"
    path.write_text(TREES)
    return str(path)


def test_categories_have_what_the_classes_have(trees):
    palm = {"id": 3, "name": "Palm", "frequency": "r", "instance_count": 7}
    palm["keypoints"] = {"root": 0, "top": 1}
    tree, fir = {"id": 1, "name": "tree"}, {"id": 4, "name": "fir"}
    assert label_map_util.create_categories_from_labelmap(trees) == [palm, tree, fir]
    label_map = label_map_util.load_labelmap(trees)
    assert label_map_util.get_max_label_map_index(label_map) == 4
    assert label_map_util.convert_label_map_to_categories(label_map, 2) == [tree]
    plain = label_map_util.create_category_index_from_labelmap(trees, use_display_name=False)
    assert plain == {3: {**palm, "name": "palm"}, 1: tree, 4: fir}
    numbered = [{"id": 1, "name": "category_1"}, {"id": 2, "name": "category_2"}]
    assert label_map_util.convert_label_map_to_categories(None, 2) == numbered
    one = {1: {"id": 1, "name": "object"}}
    assert label_map_util.create_class_agnostic_category_index() == one


def test_numbers_of_classes_and_of_keypoints(trees):
    names = label_map_util.get_label_map_dict(trees, fill_in_gaps_and_background=True)
    assert names == {"palm": 3, "tree": 1, "fir": 4, "spruce": 4, "background": 0, "2": 2}
    label_map = label_map_util.load_labelmap(trees)
    assert label_map_util.get_keypoint_label_map_dict(label_map) == {"root": 0, "top": 1}
    keypoint = label_map.item[2].keypoints.add(id=1, label="tip")
    with pytest.raises(ValueError, match="Duplicated keypoint ID: 1"):
        label_map_util.get_keypoint_label_map_dict(label_map)
    keypoint.label = "top"
    with pytest.raises(ValueError, match="Duplicated keypoint label: top"):
        label_map_util.get_keypoint_label_map_dict(label_map)
    label_map.item[0].keypoints.add(id=1, label="crown")
    with pytest.raises(ValueError, match="Found 1 more than once"):
        label_map_util.convert_label_map_to_categories(label_map, 4)


def test_tables_of_ancestors_and_descendants(trees):
    ancestors, descendants = label_map_util.get_label_map_hierarchy_lut(trees)
    assert [tuple(rows) for rows in ancestors.nonzero()] == [(3,), (0,)]
    assert [tuple(rows) for rows in descendants.nonzero()] == [(0, 0), (2, 3)]
    with_itself, _ = label_map_util.get_label_map_hierarchy_lut(trees, include_identity=True)
    np.testing.assert_array_equal(with_itself, ancestors + np.eye(4))
