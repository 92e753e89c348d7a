import pathlib

import pytest
import tensorflow.compat.v1 as tf

from refusals import refusal
from tf_frame.estimator.run_config.run_config import (
    RunConfig,
    default_session_config,
    maybe_overwrite_model_dir,
)


def test_fields_of_the_default_session_config_can_be_set():
    config = RunConfig(session_config=None)
    config.session_config.gpu_options.allow_growth = True
    assert config.replace(model_dir="m").session_config.gpu_options.allow_growth
    assert maybe_overwrite_model_dir(config, "m").session_config.gpu_options.allow_growth
    assert not RunConfig().session_config.gpu_options.allow_growth


def test_an_estimator_gets_a_configuration_with_folder_and_session(logged):
    message = "config must be an instance of `RunConfig`, but provided {'model_dir': 'm'}."
    assert refusal(maybe_overwrite_model_dir, {"model_dir": "m"}, None) == (ValueError, message)
    config = maybe_overwrite_model_dir(None, "m")
    assert config == RunConfig("m", session_config=default_session_config())
    assert logged == [("info", "Using default config.")]


@pytest.mark.parametrize("path", ["m", pathlib.Path("m")])
def test_the_folder_of_either_is_taken(path):
    assert maybe_overwrite_model_dir(RunConfig(), path).model_dir == "m"
    assert maybe_overwrite_model_dir(RunConfig("m"), None).model_dir == "m"
    assert maybe_overwrite_model_dir(RunConfig("m"), path).model_dir == "m"


@pytest.mark.parametrize("other", ["n", ""])
def test_two_folders_are_refused(other):
    assert refusal(maybe_overwrite_model_dir, RunConfig("m"), other) == (
        ValueError,
        "`model_dir` are set both in constructor and `RunConfig`, but with different values. "
        f"In constructor: '{other}', in `RunConfig`: 'm' ",
    )


def test_the_folder_of_tf_config_counts(in_cluster):
    in_cluster(model_dir="/from")
    assert maybe_overwrite_model_dir(None, None).model_dir == "/from"
    with pytest.raises(ValueError, match="In constructor: 'm', in `RunConfig`: '/from'"):
        maybe_overwrite_model_dir(None, "m")


@pytest.mark.parametrize("nothing", [None, ""])
def test_without_a_folder_there_is_a_temporary_one(monkeypatch, tmp_path, logged, nothing):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    config = maybe_overwrite_model_dir(RunConfig(), nothing)
    (made,) = tmp_path.iterdir()
    assert made.is_dir() and config.model_dir == str(made)
    assert logged == [("warning", f"Using temporary folder as model directory: {made}")]


def test_the_default_session_configuration_places_softly_and_optimises_once():
    proto = default_session_config()
    assert proto.allow_soft_placement and not proto.device_filters
    rewriting = proto.graph_options.rewrite_options
    assert rewriting.meta_optimizer_iterations == rewriting.ONE != rewriting.TWO


DEVICES = {"gpus": [0, 2], "gpu_memory_growth": True, "gpu_memory_fraction": 0.8}


def test_the_default_session_configuration_has_the_devices_of_the_options():
    options = {**DEVICES, "intra_op_threads": 3, "max_steps": 5}
    proto = maybe_overwrite_model_dir(RunConfig("m", options=options), None).session_config
    assert proto.gpu_options.visible_device_list == "0,2"
    assert proto.gpu_options.allow_growth
    assert proto.gpu_options.per_process_gpu_memory_fraction == 0.8
    assert proto.intra_op_parallelism_threads == 3
    own = tf.ConfigProto(log_device_placement=True)
    config = maybe_overwrite_model_dir(RunConfig("m", session_config=own, options=options), None)
    assert config.session_config == own


def test_options_of_a_copy_change_the_default_session_config():
    config = RunConfig()
    config.session_config.log_device_placement = True
    proto = config.replace(options=DEVICES).session_config
    assert proto.gpu_options.visible_device_list == "0,2"
    assert proto.log_device_placement
    own = tf.ConfigProto(allow_soft_placement=True)
    assert RunConfig(session_config=own).replace(options=DEVICES).session_config == own
