"""Files of dense prediction cells, and networks with one."""

import json

import pytest
import tensorflow.compat.v1 as tf

from tf_frame import InputInfo, Mode
from tf_frame.errors import ConfigError
from tf_frame_deeplab.dense_prediction_cell import Branch, read_cell
from tf_frame_deeplab.model import DeepLab, Params

INFO = InputInfo(num_classes=3)
# The cell of the published xception_71 for Cityscapes, tensorflow/models, research/deeplab/core,
# dense_prediction_cell_branch5_top1_cityscapes.json: rates, and inputs of its five branches.
RATES = [[1, 6], [18, 15], [6, 3], [1, 1], [6, 21]]
INPUTS = [-1, 0, 1, 0, 0]
PUBLISHED = [
    {"kernel": 3, "rate": rate, "op": "conv", "input": source}
    for rate, source in zip(RATES, INPUTS, strict=True)
]
POOLING = {"op": "pyramid_pooling", "grid_size": [1, 2], "input": -1, "kernel": 1}
ONE = {"op": "conv", "kernel": 1, "input": 0}


@pytest.fixture
def cell(tmp_path):
    """Writes a file; returns its path."""

    def write(content):
        path = tmp_path / "cell.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return str(path)

    return write


def build(**params):
    small = {"depth_multiplier": 0.1, "aspp_channels": 8, "decoder_channels": 8}
    model = DeepLab(params=Params(**small, **params), info=INFO)
    return model.build({"image": tf.zeros([1, 65, 65, 3])}, None, Mode.PREDICT)


def test_branches_of_the_published_cell(cell):
    branches = read_cell(cell(PUBLISHED))
    assert [branch.input for branch in branches] == INPUTS
    assert [list(branch.rate) for branch in branches] == RATES
    assert {branch.kernel for branch in branches} == {(3, 3)}
    assert read_cell(cell([POOLING])) == (Branch("pyramid_pooling", -1, grid=(1, 2)),)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"op": "conv",\n "kernel" 3}]', "is no JSON: line 2, column 11"),
        (None, r"no\.json cannot be read: No such file"),
        ({}, "must hold a list of branches"),
        ([], "must hold a list of branches"),
        ([PUBLISHED[0], 3], 'branch 1: its "op" must be "conv" or "pyramid_pooling"'),
        ([{**ONE, "op": "pool"}], 'branch 0: its "op" must be'),
        ([{"op": "conv", "input": -1}], 'branch 0, conv: "kernel" is missing'),
        ([{**POOLING, "size": 3}], 'branch 0, pyramid_pooling: "size" is unknown'),
        ([PUBLISHED[0], {**ONE, "input": 1}], 'branch 1: its "input" 1 must be -1'),
        ([{**ONE, "input": True}], 'its "input" True must be'),
        ([{**ONE, "kernel": 3, "input": -1}], '"rate" is missing'),
        ([{**PUBLISHED[0], "rate": [1, 2, 3]}], r'its "rate" \[1, 2, 3\] must be a whole number'),
        ([{**PUBLISHED[0], "kernel": 0}], 'its "kernel" 0 must be a whole number'),
    ],
)
def test_a_wrong_file_is_one_line(cell, content, message):
    with pytest.raises(ConfigError, match=message) as error:
        read_cell(cell(content) if content is not None else "no.json")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("content", "params", "message"),
    [
        (PUBLISHED, {"atrous_rates": (6,)}, "leave --model.atrous_rates out"),
        (PUBLISHED, {"pyramid": "lite"}, "leave --model.pyramid out"),
        (PUBLISHED, {"image_pooling": False}, "leave --model.image_pooling out"),
        (PUBLISHED, {"output_stride": 32}, "set --model.output_stride to 16, or 8"),
        (PUBLISHED, {"image_pooling_crop_size": (65, 65)}, "has no branch pyramid_pooling"),
        ([POOLING], {}, "set --model.image_pooling_crop_size"),
    ],
)
def test_options_that_a_cell_replaces_are_refused(cell, content, params, message):
    with pytest.raises(ConfigError, match=message):
        build(dense_prediction_cell=cell(content), **params)


@pytest.mark.slow
@pytest.mark.usefixtures("short")
def test_a_network_with_a_cell(cell, graph):
    """Names as published, twice the rates at stride 8, and windows of half the crop's width."""
    content = [*PUBLISHED, {**ONE, "input": 2}, POOLING]
    options = {"image_pooling_crop_size": (65, 65), "output_stride": 8}
    output = build(dense_prediction_cell=cell(content), **options)
    names = [v.op.name for v in tf.global_variables() if v.op.name.endswith("weights")]
    assert [name for name in names if name.startswith("meta_architecture/")] == [
        *(
            f"meta_architecture/branch{index}_{layer}"
            for index in range(5)
            for layer in ("depthwise/depthwise_weights", "pointwise/weights")
        ),
        "meta_architecture/branch5/weights",
        "meta_architecture/branch6/weights",
        "meta_architecture/concat_projection/weights",
    ]
    assert not [name for name in names if name.startswith(("aspp", "image_pooling"))]
    operations = [op for op in graph.get_operations() if "meta_architecture/branch" in op.name]
    dilated = [op for op in operations if op.type == "SpaceToBatchND"]
    rates = [tf.get_static_value(op.inputs[1]).tolist() for op in dilated]
    assert rates == [[2 * row, 2 * column] for row, column in RATES]
    (pooling,) = [op for op in graph.get_operations() if op.type == "AvgPool"]
    assert list(pooling.get_attr("ksize")) == [1, 9, 5, 1]
    assert output.end_points["concat_projection"].shape == [1, 9, 9, 8]
