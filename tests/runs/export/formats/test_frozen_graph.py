import json

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import ModelOutput
from tf_frame.errors import ConfigError
from tf_frame.runs.export.formats import frozen_graph
from tf_frame.runs.export.verify import DifferenceError

from ..conftest import B, Classifier, Data, TwoHeads, W, X, changed


def load_graph(path):
    graph_def = tf.GraphDef()
    graph_def.ParseFromString(path.read_bytes())
    return graph_def


def test_the_file_computes_the_model_with_its_variables_as_constants(
    export, tmp_path, variable_mode
):
    exported = export("frozen_graph")
    assert exported.path == str(tmp_path / "out" / "frozen_graph.pb")
    graph_def = load_graph(tmp_path / "out" / "frozen_graph.pb")
    assert not [n for n in graph_def.node if "Var" in n.op or n.op.startswith(("Save", "Restore"))]
    signature = json.loads((tmp_path / "out" / "frozen_graph.json").read_text())
    assert signature == {
        "inputs": {"x": {"tensor": "inputs/x:0", "shape": [None, 3], "dtype": "float32"}},
        "outputs": {
            "class": {"tensor": "outputs/class:0", "shape": [None], "dtype": "int64"},
            "logits": {"tensor": "outputs/logits:0", "shape": [None, 4], "dtype": "float32"},
        },
    }
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(graph_def, name="")
        fetched = {k: v["tensor"] for k, v in signature["outputs"].items()}
        found = session.run(fetched, {signature["inputs"]["x"]["tensor"]: X})
    np.testing.assert_allclose(found["logits"], X @ W + B, rtol=1e-6)
    assert found["class"].tolist() == np.argmax(X @ W + B, axis=1).tolist()


def test_moving_averages_stand_for_the_variables_where_the_options_say_so(export, tmp_path):
    export("frozen_graph", options={"moving_average_decay": 0.9})
    found = frozen_graph.run(str(tmp_path / "out"), {"x": X})
    np.testing.assert_allclose(found["logits"], 2 * (X @ W + B), rtol=1e-6)
    options = {"moving_average_decay": 0.9, "eval_moving_averages": False}
    export("frozen_graph", options=options, output=str(tmp_path / "plain"))
    found = frozen_graph.run(str(tmp_path / "plain"), {"x": X})
    np.testing.assert_allclose(found["logits"], X @ W + B, rtol=1e-6)


class TwoInputs(Data):
    def dataset(self, mode, context):
        def named(features, label):
            return {**features, "number": tf.range(tf.size(label))}, label

        return super().dataset(mode, context).map(named)


def test_an_input_that_no_output_needs_is_not_in_the_signature(export, tmp_path):
    exported = export("frozen_graph", source=TwoInputs)
    assert list(exported.inputs) == ["x"]
    assert list(json.loads((tmp_path / "out" / "frozen_graph.json").read_text())["inputs"]) == ["x"]
    assert exported.on_real_data


class OnDevices(Classifier):
    def build(self, features, labels, mode):
        with tf.device("/device:GPU:7"):
            return super().build(features, labels, mode)


def test_devices_of_the_model_are_left_out(export, tmp_path):
    export("frozen_graph", model=OnDevices)
    assert not [n.name for n in load_graph(tmp_path / "out" / "frozen_graph.pb").node if n.device]


def look_up(predictions):
    keys = tf.constant([0, 1, 2, 3], tf.int64)
    texts = tf.lookup.KeyValueTensorInitializer(keys, tf.strings.as_string(keys))
    table = tf.lookup.StaticHashTable(texts, "none")
    return ModelOutput(predictions={"name": table.lookup(predictions["class"])})


def test_a_model_whose_file_cannot_be_run_is_refused(export, tmp_path):
    with pytest.raises(DifferenceError, match="frozen graph was written, but cannot be run"):
        export("frozen_graph", model=changed(look_up))
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_of_several_signatures_one_has_to_be_chosen(export, tmp_path):
    with pytest.raises(ConfigError, match=r"3 signatures \(class, logits, serving_default\), and"):
        export("frozen_graph", model=TwoHeads)
    with pytest.raises(ConfigError, match=r"no signature 'other'; it has: class, logits, servin"):
        export("frozen_graph", model=TwoHeads, signature="other")
    exported = export("frozen_graph", model=TwoHeads, signature="class")
    assert {k: list(v) for k, v in exported.signatures.items()} == {"class": ["class"]}
    assert list(frozen_graph.run(str(tmp_path / "out"), {"x": X})) == ["class"]


def test_a_model_that_is_not_a_function_of_its_inputs_is_refused(export, tmp_path):
    def add_noise(predictions):
        logits = predictions["logits"]
        noise = tf.raw_ops.RandomStandardNormal(shape=tf.shape(logits), dtype=tf.float32)
        return ModelOutput(predictions={"logits": logits + noise})

    with pytest.raises(DifferenceError, match="output logits differ"):
        export("frozen_graph", model=changed(add_noise))
    assert not (tmp_path / "out").exists()
