"""The inputs of this package keep their contracts."""

import pytest

from tf_frame.testing.conformance import InputConformance, run_suite


@pytest.mark.slow
@pytest.mark.parametrize("name", ["coco_json", "voc_xml", "dota", "yolo", "labelme"])
def test_inputs_with_data_of_the_user_pass(forms, tmp_path, name):
    data = getattr(forms, name)(tmp_path)
    options = {"data_dir": str(data), "image_size": (32,), "data_augmentation": ()}
    suite = type("TestForm", (InputConformance,), {"plugin": name, "options": options})
    assert {(each.state, each.problem) for each in run_suite(suite)} == {("ok", "")}


@pytest.mark.slow
class TestTrees(InputConformance):
    plugin = "trees"


@pytest.mark.slow
class TestNucleiBoxes(InputConformance):
    plugin = "nuclei_boxes"
