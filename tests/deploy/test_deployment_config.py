import pytest

from tf_frame.deploy.deployment_config import DeploymentConfig


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"num_replicas": 2}, "When using replicas num_ps_tasks must be positive"),
        (
            {"num_replicas": 2, "num_ps_tasks": 1, "worker_job_name": ""},
            "Must specify worker_job_name when using replicas",
        ),
        (
            {"num_ps_tasks": 1, "ps_job_name": ""},
            "Must specify ps_job_name when using parameter server",
        ),
        (
            {"replica_id": 2, "num_replicas": 2, "num_ps_tasks": 1},
            "replica_id must be less than num_replicas",
        ),
    ],
)
def test_fields_that_do_not_go_together_are_refused(fields, message):
    with pytest.raises(ValueError, match=message):
        DeploymentConfig(**fields)


def test_clones_take_the_gpus_in_turn():
    config = DeploymentConfig(num_clones=11)
    assert [config.clone_device(i) for i in (0, 10)] == ["/device:GPU:0", "/device:GPU:10"]
    assert config.clone_scope(10) == "clone_10"


def test_clone_on_cpu_puts_every_clone_on_cpu_0():
    config = DeploymentConfig(num_clones=3, clone_on_cpu=True, clone_device_type="CPU")
    assert {config.clone_device(i) for i in range(3)} == {"/device:CPU:0"}


def test_clones_without_gpus_take_the_logical_cpus_in_turn():
    config = DeploymentConfig(num_clones=2, clone_device_type="CPU")
    assert [config.clone_device(i) for i in range(2)] == ["/device:CPU:0", "/device:CPU:1"]


def test_a_single_clone_has_no_scope():
    assert DeploymentConfig().clone_scope(0) == ""


@pytest.mark.parametrize("method", ["clone_device", "clone_scope"])
def test_a_clone_index_beyond_the_last_is_refused(method):
    with pytest.raises(ValueError, match="clone_index must be less than num_clones"):
        getattr(DeploymentConfig(num_clones=2), method)(2)


def test_everything_local_without_parameter_servers():
    config = DeploymentConfig()
    assert (config.ps_device, config.worker_device) == ("", "")
    assert config.optimizer_device() == config.inputs_device() == "/device:CPU:0"
    assert config.variables_device() == "/device:CPU:0"


def test_jobs_with_parameter_servers():
    config = DeploymentConfig(num_ps_tasks=1, worker_job_name="worker/task:3")
    assert config.ps_device == "/job:ps"
    assert config.clone_device(0) == "/job:worker/task:3/device:GPU:0"
    assert config.optimizer_device() == "/job:worker/task:3/device:CPU:0"
    assert config.inputs_device() == "/job:worker/task:3/device:CPU:0"
