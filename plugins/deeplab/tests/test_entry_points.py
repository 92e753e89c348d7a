import ast
import subprocess
import sys
from pathlib import Path

_SETUP = Path(__file__).parents[1] / "setup.py"
_PROGRAM = """
import importlib, sys
for target in sys.argv[1:]:
    module, _, name = target.partition(":")
    loaded = getattr(importlib.import_module(module), name)
    print(loaded.__name__, "tensorflow" in sys.modules)
"""


def entry_points():
    tree = ast.parse(_SETUP.read_text(encoding="utf-8"))
    (call,) = (
        node
        for node in ast.walk(tree)
        if getattr(node, "keywords", None)
        and any(keyword.arg == "entry_points" for keyword in node.keywords)
    )
    value = next(keyword.value for keyword in call.keywords if keyword.arg == "entry_points")
    groups = ast.literal_eval(value)
    return [(group, *line.split(" = ")) for group, lines in groups.items() for line in lines]


def test_the_names_are_those_that_users_type():
    assert {(group, name) for group, name, _ in entry_points()} == {
        ("tf_frame.models", "deeplab"),
        ("tf_frame.inputs", "nuclei"),
        ("tf_frame.inputs", "segmentation_folder"),
        ("tf_frame.inputs", "segmentation_tfrecord"),
        ("tf_frame.converters", "segmentation_folder"),
        ("tf_frame.converters", "voc"),
        ("tf_frame.converters", "cityscapes"),
        ("tf_frame.converters", "ade20k"),
        ("tf_frame.converters", "coco_panoptic"),
        ("tf_frame.gradient_transforms", "last_layer_multiplier"),
    }


def test_entry_points_load_without_tensorflow():
    targets = [target for _, _, target in entry_points()]
    result = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *targets], capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    expected = [f"{target.partition(':')[2]} False" for target in targets]
    assert result.stdout.splitlines() == expected


def test_data_can_be_checked_without_tensorflow():
    program = (
        "import sys; from tf_frame_deeplab.nuclei import Nuclei, Params;"
        "print(Nuclei(params=Params()).num_tiles, 'tensorflow' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.stdout.split() == ["16", "False"], result.stderr
