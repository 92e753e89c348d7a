"""RunConfig and TPUConfig: defaults and checks of tensorflow_estimator 1.15."""

import json

import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy import estimator as tf_estimator
from tf_frame_legacy.contrib import tpu


def test_defaults_of_the_tpu_config():
    assert tpu.TPUConfig() == (2, None, None, 2, None, None, None, 2, 1)
    assert tpu.TPUConfig(per_host_input_for_training=False).per_host_input_for_training == 1
    assert tpu.TPUConfig("10m", 8, per_host_input_for_training=3)[:4] == ("10m", 8, None, 3)


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"iterations_per_loop": 0}, ValueError, "Invalid TPUConfig `iterations_per_loop`"),
        ({"num_shards": 0}, ValueError, "num_shards must be positive, got 0"),
        ({"num_shards": 1.5}, TypeError, "num_shards must be int"),
        ({"num_cores_per_replica": 3}, ValueError, "num_cores_per_replica must be 1, 2, 4"),
        ({"eval_training_input_configuration": 3}, ValueError, "must be PER_HOST_V1 or SLICED"),
        ({"initial_infeed_sleep_secs": -1}, ValueError, "sleep_secs must be positive"),
        ({"input_partition_dims": []}, ValueError, "one or two elements"),
        ({"input_partition_dims": [[1]]}, ValueError, "only supported in PER_HOST_V2"),
        (
            {"input_partition_dims": [[1]], "per_host_input_for_training": 3},
            ValueError,
            "requires setting num_cores_per_replica",
        ),
    ],
)
def test_wrong_values(arguments, error, message):
    with pytest.raises(error, match=message):
        tpu.TPUConfig(**arguments)


def test_the_job_name_of_tf_config(monkeypatch):
    service = {"service": {"tpu_worker_job_name": "workers"}}
    monkeypatch.setenv("TF_CONFIG", json.dumps(service))
    assert tpu.TPUConfig().tpu_job_name == "workers"


def test_run_config_takes_the_arguments_of_both():
    proto = tf.ConfigProto(log_device_placement=True)
    config = tpu.RunConfig(
        tpu.TPUConfig(num_shards=8),
        master="",
        model_dir="folder",
        save_checkpoints_steps=7,
        session_config=proto,
        tf_random_seed=3,
    )
    assert isinstance(config, tf_estimator.RunConfig)
    assert (config.tpu_config.num_shards, config.model_dir) == (8, "folder")
    assert (config.save_checkpoints_steps, config.tf_random_seed) == (7, 3)
    assert config.session_config.log_device_placement
    other = config.replace(tpu_config=tpu.TPUConfig(5), save_summary_steps=2)
    assert (other.tpu_config.iterations_per_loop, other.save_summary_steps) == (5, 2)
    assert config.replace(model_dir="b").tpu_config.num_shards == 8


def test_masters():
    config = tpu.RunConfig(master="grpc://a:1")
    assert (config.master, config.evaluation_master) == ("grpc://a:1", "grpc://a:1")
    config = tpu.RunConfig(master="grpc://a:1", evaluation_master="").replace(model_dir="b")
    assert (config.master, config.evaluation_master) == ("grpc://a:1", "")
    with pytest.raises(ValueError, match="Both master and cluster are set"):
        tpu.RunConfig(master="", cluster=object())
    assert tpu.RunConfig(cluster=object()).master == ""
