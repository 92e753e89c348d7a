import json
import os
import subprocess
import sys

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
from tensorflow.core.protobuf import rewriter_config_pb2

import bfloat16_training
import forked
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy import mixed_precision
from tf_frame.deploy.mixed_precision import precision_rewrites, product_types
from tf_frame.errors import ConfigError

ON = rewriter_config_pb2.RewriterConfig.ON


def proto_for(mixed_precision, *, has_gpu=False):
    proto = tf.ConfigProto()
    precision_rewrites(proto, RunOptions(mixed_precision=mixed_precision), has_gpu=has_gpu)
    return proto


@pytest.mark.parametrize("has_gpu", [False, True])
def test_none_changes_nothing(has_gpu):
    assert proto_for("none", has_gpu=has_gpu) == tf.ConfigProto()
    assert product_types(tf.ConfigProto()) == {"float32"}


@pytest.mark.process
def test_bfloat16_learns_as_float32_within_a_percent():
    done = forked.succeed([sys.executable, bfloat16_training.__file__])
    results = json.loads(done.stdout)
    if "bfloat16" not in results:
        pytest.skip("TensorFlow has no bfloat16 convolutions on this machine")
    (plain, plain_types), (mixed, mixed_types) = results["none"], results["bfloat16"]
    assert (plain_types, mixed_types) == (["float32"], ["bfloat16"])
    assert plain[-1] < plain[0] - 0.02
    np.testing.assert_allclose(mixed, plain, rtol=0.01)
    assert mixed != plain


def test_rewrites_for_other_devices_are_refused(monkeypatch):
    expected = tf.ConfigProto()
    expected.graph_options.rewrite_options.auto_mixed_precision = ON
    assert proto_for("float16", has_gpu=True) == expected
    monkeypatch.setattr(mixed_precision, "product_types", lambda proto: {"float32"})
    with pytest.raises(ConfigError, match="bfloat16 does nothing on this machine: TensorFlow left"):
        proto_for("bfloat16")
    with pytest.raises(ConfigError, match="bfloat16 is a rewrite for CPUs, and the clones run on"):
        proto_for("bfloat16", has_gpu=True)
    with pytest.raises(ConfigError, match="float16 needs a GPU, and no clone runs on one"):
        proto_for("float16")


@pytest.mark.slow
@pytest.mark.process
def test_bfloat16_is_refused_without_onednn():
    script = (
        "import tensorflow.compat.v1 as tf\n"
        "from tf_frame.config.run_options import RunOptions\n"
        "from tf_frame.deploy.mixed_precision import precision_rewrites\n"
        "config = RunOptions(mixed_precision='bfloat16')\n"
        "precision_rewrites(tf.ConfigProto(), config, has_gpu=False)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "TF_ENABLE_ONEDNN_OPTS": "0"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "ConfigError: --mixed_precision bfloat16 does nothing on this machine" in done.stderr
