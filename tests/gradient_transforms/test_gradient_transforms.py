"""Properties of every built-in transform: contract, order, sparse gradients, types."""

import subprocess
import sys

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.config.option import declared_options
from tf_frame.gradient_transforms.accumulate import Accumulate
from tf_frame.gradient_transforms.centralize import Centralize
from tf_frame.gradient_transforms.check_finite import CheckFinite
from tf_frame.gradient_transforms.clip import ClipByGlobalNorm, ClipByNorm, ClipByValue
from tf_frame.gradient_transforms.freeze import Freeze
from tf_frame.gradient_transforms.multiply import Multiply
from tf_frame.gradient_transforms.noise import Noise
from tf_frame.gradient_transforms.scale_biases import ScaleBiases
from tf_frame.graph.update.gradients import transform_gradients
from tf_frame.plugin.kinds import GRADIENT_TRANSFORM, check_contract

# Each class with what its first option gets from `--transform NAME:VALUE`.
FIRST = {
    Accumulate: ("steps", "2"),
    Centralize: (None, None),
    CheckFinite: (None, None),
    ClipByGlobalNorm: ("norm", "1"),
    ClipByNorm: ("norm", "1"),
    ClipByValue: ("limit", "1"),
    Freeze: ("patterns", "other.*"),
    Multiply: ("factors", ".*=0.5"),
    Noise: ("eta", "0.3"),
    ScaleBiases: ("factor", "2"),
}
SPARSE = [cls for cls in FIRST if cls is not Accumulate]


def make(cls):
    """The transform as the command line makes it, from the text for its first option."""
    text = FIRST[cls][1]
    options = declared_options(cls.Params)[:1]
    return cls(params=cls.Params(**{option.name: option.parse(text) for option in options}))


@pytest.mark.parametrize("cls", FIRST)
def test_it_keeps_the_contract_of_a_plugin(cls):
    assert check_contract(cls, GRADIENT_TRANSFORM) == ""
    options = declared_options(cls.Params)
    # A short form sets the first option.
    assert (options[0].name if options else None) == FIRST[cls][0]
    assert all(option.help for option in options)


@pytest.mark.parametrize("cls", FIRST)
def test_none_passes_and_pairs_keep_their_order(cls, variable, evaluate):
    tf.train.create_global_step()
    names = ["a/weights", "b/biases", "c/beta"]
    a, b, c = [variable(name) for name in names]
    d = variable("other")
    pairs = [(tf.ones([3, 2]), a), (None, b), (tf.ones([3, 2]), c), (tf.ones([3, 2]), d)]
    returned = transform_gradients(pairs, [make(cls)])
    assert [v.op.name for _, v in returned][:3] == names
    assert returned[1][0] is None
    assert evaluate(returned[0][0]).shape == (3, 2)


@pytest.mark.parametrize("cls", SPARSE)
def test_a_sparse_gradient_stays_sparse(cls, variable, sparse, evaluate):
    tf.train.create_global_step()
    gradient = sparse()
    pairs = [(gradient, variable("a/biases")), (tf.ones([3, 2]), variable("other"))]
    changed = transform_gradients(pairs, [make(cls)])[0][0]
    assert isinstance(changed, tf.IndexedSlices)
    assert changed.indices is gradient.indices
    assert changed.dense_shape is gradient.dense_shape
    assert evaluate(changed.values).shape == (2, 2)


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float64])
@pytest.mark.parametrize("cls", FIRST)
def test_the_type_of_a_gradient_stays(cls, dtype, graph, evaluate):
    tf.train.create_global_step()
    weights = tf.get_variable("biases", [3, 2], dtype, initializer=tf.zeros_initializer())
    unmatched = tf.get_variable("other", [3, 2], dtype, initializer=tf.zeros_initializer())
    pairs = [(tf.ones([3, 2], dtype), weights), (tf.ones([3, 2], dtype), unmatched)]
    changed = transform_gradients(pairs, [make(cls)])[0][0]
    assert changed.dtype == dtype
    assert np.isfinite(evaluate(changed).astype(np.float64)).all()


@pytest.mark.process
def test_no_module_imports_tensorflow():
    modules = ", ".join(sorted({cls.__module__ for cls in FIRST}))
    program = f"import sys, {modules}; print('tensorflow' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert result.stdout == "False\n", result.stderr
