"""Exports that take raw data, in one of several forms."""

import json

import numpy as np
import pytest
import tensorflow as tf2
import tensorflow.compat.v1 as tf

from tf_frame import ServingForm
from tf_frame.errors import ConfigError, PluginError
from tf_frame.runs.export.formats import frozen_graph
from tf_frame.runs.export.raw_inputs import raw_signature

from .conftest import B, Data, W, X


def form(name, dtype, prepare, examples):
    return ServingForm(
        specs={name: tf.TensorSpec([None, 3] if dtype != tf.string else [None], dtype)},
        features=lambda tensors: {"x": prepare(tensors[name])},
        values={name: f"values of {name}"},
        examples=lambda count: {name: examples[:count]},
    )


def parsed(lines):
    parts = tf.strings.split(lines, ",", result_type="RaggedTensor")
    numbers = tf.strings.to_number(parts.to_tensor(shape=[None, 3]))
    return tf.ensure_shape(numbers, [None, 3])


TEXT = form("line", tf.string, parsed, np.array([",".join(map(str, row)) for row in X], object))
BYTES = form("bytes", tf.uint8, lambda t: tf.cast(t, tf.float32) / 10, np.ones([5, 3], np.uint8))
HALVES = form("halves", tf.float32, lambda t: 2 * t, X / 2)


class Raw(Data):
    """Takes text, bytes or halves."""

    def raw_serving(self, *, fixed_size=False):
        forms = {"text": TEXT, "bytes": BYTES, "halves": HALVES}
        return {"bytes": BYTES} if fixed_size else forms


@pytest.mark.parametrize("returned", ["nonsense", {"text": {"line": tf.string}}])
def test_what_is_no_form_is_refused(export, returned):
    class Wrong(Data):
        def raw_serving(self, *, fixed_size=False):
            return returned

    message = r"Wrong.raw_serving\(\) returned .*; it must return a mapping of names to"
    with pytest.raises(PluginError, match=message):
        export("saved_model", source=Wrong)


def test_every_form_is_a_signature(export, variable_mode):
    exported = export("saved_model", source=Raw)
    assert list(exported.signatures) == [
        "serving_default",
        "bytes:serving_default",
        "halves:serving_default",
    ]
    model = tf2.saved_model.load(exported.path)
    line = tf2.constant(["1,2,3", "0,0,0"])
    found = model.signatures["serving_default"](line=line)["logits"]
    np.testing.assert_allclose(found, [[1, 2, 3], [0, 0, 0]] @ W + B, rtol=1e-5)
    found = model.signatures["halves:serving_default"](halves=tf2.constant(X))["logits"]
    np.testing.assert_allclose(found, 2 * X @ W + B, rtol=1e-5)


def test_a_frozen_graph_has_the_inputs_of_all_forms(export, tmp_path):
    exported = export("frozen_graph", source=Raw)
    assert exported.fed == {
        "serving_default": ["line"],
        "bytes:serving_default": ["bytes"],
        "halves:serving_default": ["halves"],
    }
    found = frozen_graph.run(str(tmp_path / "out"), {"bytes": np.full([2, 3], 20, np.uint8)})
    np.testing.assert_allclose(found["logits"], np.full([2, 3], 2.0) @ W + B, rtol=1e-5)


@pytest.mark.slow
def test_a_format_of_fixed_sizes_gets_its_own_form(export, tmp_path):
    exported = export("tflite", source=Raw)
    assert {k: v.dtype.name for k, v in exported.inputs.items()} == {"bytes": "uint8"}
    readme = json.loads((tmp_path / "out" / "README.json").read_text())
    assert readme["inputs"]["bytes"]["values"] == "values of bytes"


def test_features_are_served_if_asked_for_or_if_there_is_nothing_else(export, tmp_path):
    assert list(export("frozen_graph", source=Raw, serve="features").inputs) == ["x"]
    readme = json.loads((tmp_path / "out" / "README.json").read_text())
    seen = readme["inputs"]["x"]
    assert (seen["smallest"], seen["largest"]) == pytest.approx((X[:4].min(), X[:4].max()))
    with pytest.raises(
        ConfigError, match=r"--serve raw: Data has no raw_serving\(\) for this format"
    ):
        export("tflite", serve="raw")
    with pytest.raises(ConfigError, match="a checkpoint takes no data"):
        export("checkpoint", source=Raw, serve="raw")
    assert list(export("checkpoint", source=Raw, output=str(tmp_path / "c")).inputs) == ["x"]
    assert not (tmp_path / "c" / "README.json").exists()


class Images(Data):
    """Takes images of one size, the mean of whose rows are the features."""

    def raw_serving(self, *, fixed_size=False):
        size = fixed_size if isinstance(fixed_size, tuple) else (2, 3)

        def features(tensors):
            return {"x": tf.reduce_mean(tf.cast(tensors["image"], tf.float32), [1, 2])}

        return {
            "pixels": ServingForm(
                specs={"image": tf.TensorSpec([None, *size, 3], tf.uint8)},
                features=features,
                values={},
                examples=lambda count: {"image": np.ones([count, *size, 3], np.uint8)},
            )
        }


def test_images_have_the_size_that_is_asked_for(export, tmp_path):
    for size, shape in (((), [2, 3]), ((5,), [5, 5]), ((4, 6), [4, 6])):
        output = str(tmp_path / "-".join(map(str, size)))
        exported = export("tflite", source=Images, image_size=size, output=output)
        assert exported.inputs["image"].shape.as_list() == [1, *shape, 3]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (
            "saved_model",
            {"source": Images},
            "is for images of tflite, tflite_int8, onnx; a ",
        ),
        ("tflite", {"source": Images, "serve": "features"}, "features takes those of the data"),
        (
            "tflite",
            {"source": Images, "image_size": (1, 2, 3)},
            "takes HEIGHT,WIDTH, or one",
        ),
        ("tflite", {"source": Raw}, r"5x5: the raw_serving\(\) of Raw has no images of a size"),
        ("tflite", {}, r"5x5: the raw_serving\(\) of Data has no images of a size"),
    ],
)
def test_a_size_that_nothing_has_is_refused(export, name, options, message):
    with pytest.raises(ConfigError, match=message):
        export(name, **{"image_size": (5,), **options})


def test_names_of_inputs_belong_to_one_form():
    with pytest.raises(PluginError, match="an input name in several of the forms a, b"):
        raw_signature({"a": TEXT, "b": TEXT}, 2)
