"""The files of a program see TensorFlow 1, and no others do."""

import shutil
import sys

import pytest
import tensorflow

from tf_frame_legacy import training
from tf_frame_legacy.program import old_packages
from tf_frame_legacy.program.not_offered import explain_missing


def test_old_modules_are_there_however_they_are_imported(programs):
    assert programs.run_text(
        """
import tensorflow as tf
import tensorflow.compat.v1 as tf1
import tensorflow.contrib.training as by_name
from tensorflow.contrib import training
from tensorflow.contrib.training import HParams
from tensorflow.python.ops import math_ops
import tensorflow.python.ops.math_ops as long_name
from tensorflow.python.tools import print_selective_registration_header
print(tf is tf1, by_name is training, training is tf.contrib.training)
print(HParams is tf.contrib.training.HParams, math_ops.matmul is tf.matmul)
print(long_name is math_ops, tf.compat.v1 is tf, tf.__version__, tf.VERSION)
print(HParams.__module__)
"""
    ) == ["True True True", "True True", "True True 1.15.5 1.15.5", training.HParams.__module__]


def test_private_modules_have_what_they_imported(programs):
    assert programs.run_text(
        """
import tensorflow as tf
from tensorflow.python.framework import ops
from tensorflow.python.ops import nn, variable_scope
from tensorflow.python.ops.standard_ops import stack
print(ops.IndexedSlices is tf.IndexedSlices, nn.dynamic_rnn is tf.nn.dynamic_rnn)
print(stack is tf.stack, variable_scope.variable is tf.Variable)
"""
    ) == ["True True", "True True"]


def test_version_2_beside_version_1(programs):
    assert programs.run_text(
        """
import tensorflow as tf
import tensorflow.compat.v2 as tf2
from tensorflow.compat.v2 import keras
print(keras is tf.keras, tf2.keras is keras, tf2.compat.v1 is tf)
print(tf2.estimator.RunConfig is tf.estimator.RunConfig)
print(tf2.random.normal is tf.random.normal, hasattr(tf2, "random_normal"))
"""
    ) == ["True True True", "True", "True False"]


def test_modules_have_dictionaries(programs):
    lines = programs.run_text(
        """
import tensorflow as tf
cells = {value.__name__ for value in tf.contrib.rnn.__dict__.values() if isinstance(value, type)}
print("LSTMCell" in cells, vars(tf.nn)["relu"] is tf.nn.relu)
"""
    )
    assert lines == ["True True"]


def test_modules_of_the_program_see_them_and_others_do_not(programs):
    programs.write("import tensorflow as tf\nseen = tf.__version__", "nets/model.py")
    programs.write("", "nets/__init__.py")
    installed = "site-packages/library.py"
    programs.write("import tensorflow as tf\nseen = tf.__version__", installed)
    lines = programs.run_text(
        f"""
import sys
sys.path.append({str(programs.folder / "site-packages")!r})
from nets import model
import library
import tensorflow as tf
print(model.seen, library.seen, sys.modules["tensorflow"] is tf)
"""
    )
    assert lines == [f"1.15.5 {tensorflow.__version__} False"]
    assert "site-packages" not in " ".join(sys.path[:1])


def test_folders_of_pip_are_no_part_of_the_program(programs, monkeypatch, tmp_path_factory):
    folder = tmp_path_factory.mktemp("target")
    (folder / "library-1.0.dist-info").mkdir()
    (folder / "targeted.py").write_text("import tensorflow as tf\nseen = tf.__version__")
    monkeypatch.syspath_prepend(str(folder))
    lines = programs.run_text("import targeted\nprint(targeted.seen)")
    assert lines == [tensorflow.__version__]


def test_a_star_brings_the_old_names(programs):
    lines = programs.run_text("from tensorflow.contrib.training import *\nprint(HParams(a=1).a)")
    assert lines == ["1"]


def test_a_name_that_is_not_offered_says_why_and_where(programs):
    programs.run_text("import tensorflow as tf\n\n\ntf.contrib.tensorrt.create_inference_graph()")
    assert programs.code == 1
    assert "train.py:4: tf.contrib.tensorrt" in programs.errors
    assert "is not offered: " in programs.errors
    assert "Traceback" not in programs.errors


def test_programs_may_catch_missing_names(programs):
    assert programs.run_text(
        """
import tensorflow as tf
try:
    from tensorflow.contrib import nothing
except ImportError as error:
    print("no import:", error)
try:
    from tensorflow.nothing.at_all import name
except ImportError as error:
    print("no module")
try:
    tf.nn.gelu
except AttributeError as error:
    print(error)
print(hasattr(tf, "nothing"), hasattr(tf.contrib, "nothing"), getattr(tf, "nothing", 3))
"""
    ) == [
        "no import: tf.contrib.nothing is unknown: TensorFlow 2 has no such name, and neither has "
        "tf-frame's table of old names",
        "no module",
        "tf.nn.gelu is a name of TensorFlow 2, which TensorFlow 1.15 does not have; a "
        "program for TensorFlow 2 runs by python itself",
        "False False 3",
    ]


@pytest.mark.parametrize("module", ["tensorflow.compat.v1", "tensorflow._api.v2.compat.v1"])
def test_the_name_of_a_module_does_not_matter(module):
    reason = explain_missing(f"{module}.random", "set_seed")
    assert reason and reason.startswith("tf.random.set_seed is a name of TensorFlow 2, which ")
    assert explain_missing("numpy.random", "set_seed") is None


def test_names_that_a_module_of_tensorflow_lacks(programs):
    programs.run_text("import tensorflow as tf\ntf.random.set_seed(1)")
    assert "train.py:2: tf.random.set_seed is a name of TensorFlow 2, which " in programs.errors
    programs.run_text("from tensorflow.io import absent")
    assert "train.py:1: tf.io.absent is unknown: TensorFlow 2 has no such " in programs.errors
    assert "Traceback" not in programs.errors


def test_modules_that_programs_bring_along_are_their_own(programs):
    programs.write("", "deployment/__init__.py")
    programs.write("NAME = 'own'", "deployment/model_deploy.py")
    text = "from deployment import model_deploy\nprint(getattr(model_deploy, 'NAME', 'ours'))"
    assert programs.run_text(text) == ["own"]
    shutil.rmtree(programs.folder / "deployment")
    for name in [name for name in sys.modules if name.startswith("deployment")]:
        del sys.modules[name]
    assert programs.run_text(text) == ["ours"]
    programs.run_text("from deployment import absent")
    assert "the program has no module 'deployment', and tf-frame's own has no" in programs.errors


def test_changes_of_a_module_stay_in_the_program(programs):
    programs.write("import tensorflow as tf\nprint(tf.own_name)", "later.py")
    lines = programs.run_text("import tensorflow as tf\ntf.own_name = 'set'\nimport later")
    assert lines == ["set"]
    assert not hasattr(tensorflow, "own_name")
    assert not hasattr(tensorflow.compat.v1, "own_name")


def test_keras_is_that_of_graphs(programs):
    assert programs.run_text(
        """
import tensorflow as tf
from tensorflow.keras import layers
from tensorflow.python.keras.layers import BatchNormalization
class Frozen(layers.BatchNormalization):
    pass
tf.keras.backend.set_learning_phase(1)
x = tf.placeholder(tf.float32, [None, 6, 2])
y = layers.LSTM(3)(Frozen()(x))
print(y.shape.as_list(), tf.keras.backend.learning_phase())
print(layers.BatchNormalization is BatchNormalization)
print(len(tf.gradients(y, tf.trainable_variables())), hasattr(tf.keras.datasets, "mnist"))
tf.keras.backend.set_learning_phase(0)
from tensorflow.keras.optimizers import Adam
from tensorflow.keras.preprocessing.sequence import pad_sequences
print(tf.keras.utils.to_categorical([1]), pad_sequences([[1]], 2))
print(Adam(0.25).get_config()["learning_rate"], tf.keras.Sequential([layers.Dense(1)]).name)
layers.TimeDistributed
"""
    ) == ["[None, 3] 1", "True", "5 True", "[[0. 1.]] [[0 1]]", "0.25 sequential"]
    assert "pip install tf_keras" in programs.errors


def test_private_modules_of_keras_are_those_of_its_public_names(programs):
    assert programs.run_text(
        """
import tensorflow as tf
from tensorflow.python.keras import models
from tensorflow.python.keras.engine.base_layer import Layer
from tensorflow.python.keras.initializers import RandomNormal, Zeros
from tensorflow.python.keras.layers import Dense, BatchNormalization
from tensorflow.python.keras.optimizers import Adam
from tensorflow.python.keras.preprocessing.sequence import _remove_long_seq
print(Dense is tf.keras.layers.Dense, BatchNormalization is tf.keras.layers.BatchNormalization)
print(Adam is tf.keras.optimizers.Adam, issubclass(Dense, Layer))
model = models.Sequential([Dense(1, kernel_initializer=RandomNormal(), input_shape=(2,))])
print(isinstance(model, tf.keras.Model), model.output_shape)
print(_remove_long_seq(3, [[1], [1, 2, 3, 4]], [5, 6]))
from tensorflow.python.keras.layers import Bidirectional
"""
    ) == ["True True", "True True", "True (None, 1)", "([[1]], [5])"]
    assert "pip install tf_keras" in programs.errors


def test_models_of_keras_are_exported_as_then(programs):
    lines = programs.run_text(
        """
import numpy as np
import tensorflow as tf
model = tf.keras.Sequential([tf.keras.layers.Dense(1, input_shape=(2,))])
model.compile(tf.keras.optimizers.Adam(0.1), "mse")
model.fit(np.ones([4, 2]), np.ones([4, 1]), verbose=0)
tf.keras.experimental.export_saved_model(model, "exported")
with tf.Graph().as_default(), tf.Session() as session:
    graph = tf.saved_model.load(session, ["serve"], "exported").signature_def["serving_default"]
    (inputs,), (outputs,) = graph.inputs.values(), graph.outputs.values()
    served = session.run(outputs.name, {inputs.name: np.ones([1, 2])})
again = tf.keras.experimental.load_from_saved_model("exported")
expected = model.predict(np.ones([1, 2]))
print(np.allclose(served, expected), np.allclose(again.predict(np.ones([1, 2])), expected))
model.save_weights("weights")
model.set_weights([np.zeros([2, 1]), np.zeros([1])])
model.load_weights("weights")
print(np.allclose(model.predict(np.ones([1, 2])), expected))
"""
    )
    assert lines == ["True True", "True"]


def test_a_package_that_the_program_brings_along_is_its_own(programs, monkeypatch):
    old_packages._restore.cache_clear()
    for name in [name for name in sys.modules if name.split(".")[0] == "networkx"]:
        monkeypatch.delitem(sys.modules, name)
    programs.write("from networkx import graph\nGraph = graph.Graph", "networkx/__init__.py")
    programs.write("import networkx\nclass Graph: nodes = 3", "networkx/graph.py")
    text = "import networkx as nx\nimport networkx\nprint(nx.Graph().node, hasattr(nx, 'Path'))"
    assert programs.run_text(text, "--with_old_packages") == ["3 False"]
    old_packages._restore.cache_clear()


def test_a_module_of_a_package_that_has_a_function_of_its_name(programs, monkeypatch):
    installed = str(programs.folder / "site-packages")
    monkeypatch.syspath_prepend(installed)
    for name in [name for name in sys.modules if name.split(".")[0] == "sklearn"]:
        monkeypatch.delitem(sys.modules, name)
    programs.write("", "site-packages/sklearn/__init__.py")
    programs.write("def part(): pass", "site-packages/sklearn/tree/__init__.py")
    programs.write("value = 4", "site-packages/sklearn/tree/part.py")
    text = "from sklearn.tree.part import value\nprint(value)"
    assert programs.run_text(text, "--with_old_packages") == ["4"]
