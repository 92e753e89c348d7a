import dataclasses

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.deploy.deployment_config import DeploymentConfig

FIELDS = [field.name for field in dataclasses.fields(DeploymentConfig)]


def test_fields_and_defaults_are_those_of_model_deploy():
    defaults = {
        "num_clones": 1,
        "clone_on_cpu": False,
        "replica_id": 0,
        "num_replicas": 1,
        "num_ps_tasks": 0,
        "worker_job_name": "worker",
        "ps_job_name": "ps",
        "clone_device_type": "GPU",
        "all_reduce": False,
        "first_clone": 0,
        "total_clones": None,
        "num_devices": None,
    }
    # In this order, because scripts give them by position.
    assert [*dataclasses.asdict(DeploymentConfig()).items()] == [*defaults.items()]


def test_replicas_need_parameter_servers_or_all_reduce():
    config = DeploymentConfig(num_replicas=3, replica_id=2, all_reduce=True)
    assert config.worker_device == ""
    assert config.variables_device() == "/device:CPU:0"
    assert DeploymentConfig(worker_job_name="", ps_job_name="").ps_device == ""


@pytest.mark.parametrize("name", [*FIELDS, "ps_device", "worker_device"])
def test_fields_and_jobs_are_read_only(name):
    with pytest.raises(AttributeError):
        setattr(DeploymentConfig(), name, 1)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"num_replicas": 2}, "When using replicas num_ps_tasks must be positive"),
        ({"num_replicas": 2, "num_ps_tasks": 1, "worker_job_name": ""}, "Must specify worker_job"),
        ({"num_ps_tasks": 1, "worker_job_name": ""}, "Must specify worker_job_name when using rep"),
        ({"num_ps_tasks": 1, "ps_job_name": ""}, "Must specify ps_job_name when using parameter s"),
        ({"replica_id": 1}, "replica_id must be less than num_replicas"),
        ({"replica_id": 2, "num_replicas": 2, "num_ps_tasks": 1}, "replica_id must be less than"),
    ],
)
def test_fields_that_do_not_go_together_are_refused(fields, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        DeploymentConfig(**fields)


def test_devices_and_scopes_of_clones():
    config = DeploymentConfig(num_clones=11)
    assert [config.clone_device(i) for i in (0, 10)] == ["/device:GPU:0", "/device:GPU:10"]
    config = DeploymentConfig(num_clones=3, clone_on_cpu=True, clone_device_type="CPU")
    assert {config.clone_device(i) for i in range(3)} == {"/device:CPU:0"}
    config = DeploymentConfig(num_clones=2, clone_device_type="CPU")
    assert [config.clone_device(i) for i in range(2)] == ["/device:CPU:0", "/device:CPU:1"]
    config = DeploymentConfig(num_ps_tasks=1, clone_on_cpu=True, num_clones=2)
    assert config.clone_device(1) == "/job:worker/device:CPU:0"
    config = DeploymentConfig(num_clones=11)
    assert [config.clone_scope(i) for i in (0, 1, 10)] == ["clone_0", "clone_1", "clone_10"]
    assert DeploymentConfig().clone_scope(0) == ""


@pytest.mark.parametrize("method", ["clone_device", "clone_scope"])
@pytest.mark.parametrize("num_clones", [1, 2])
def test_a_clone_index_beyond_the_last_is_refused(method, num_clones):
    with pytest.raises(ValueError, match="^clone_index must be less than num_clones$"):
        getattr(DeploymentConfig(num_clones=num_clones), method)(num_clones)


def test_variables_are_local_or_cached_where_they_are_read():
    config = DeploymentConfig()
    assert (config.ps_device, config.worker_device) == ("", "")
    assert config.optimizer_device() == config.inputs_device() == "/device:CPU:0"
    assert config.variables_device() == config.ps_task_device(0) == "/device:CPU:0"
    assert config.caching_device() is None
    cached = DeploymentConfig(num_ps_tasks=1).caching_device()
    with tf.Graph().as_default():
        assert cached(tf.no_op()) == ""
        with tf.device("/job:worker/device:GPU:1"):
            assert cached(tf.no_op()) == "/job:worker/device:GPU:1"


@pytest.mark.parametrize("worker", ["worker", "worker/task:3", "lonely_worker"])
def test_jobs_with_parameter_servers(worker):
    config = DeploymentConfig(num_ps_tasks=1, worker_job_name=worker, num_clones=2)
    assert (config.ps_device, config.worker_device) == ("/job:ps", f"/job:{worker}")
    assert config.clone_device(1) == f"/job:{worker}/device:GPU:1"
    assert config.optimizer_device() == f"/job:{worker}/device:CPU:0"
    assert config.inputs_device() == f"/job:{worker}/device:CPU:0"


def devices_of_variables(config, names):
    with tf.device(config.variables_device()):
        return [tf.get_variable(name, [1]).device for name in names]


@pytest.mark.usefixtures("variable_mode")
def test_variables_go_to_the_tasks_in_turn_from_task_0():
    config = DeploymentConfig(num_ps_tasks=2, ps_job_name="store")
    with tf.Graph().as_default():
        assert devices_of_variables(config, "abc") == [
            f"/job:store/task:{task}/device:CPU:0" for task in (0, 1, 0)
        ]
    config = DeploymentConfig(num_ps_tasks=2)
    with tf.Graph().as_default():
        first = devices_of_variables(config, "a")
        assert devices_of_variables(config, "b") == first == [config.ps_task_device(0)]


@pytest.mark.usefixtures("variable_mode")
def test_tables_take_a_turn_and_fixed_devices_stay():
    config = DeploymentConfig(num_ps_tasks=3)
    with tf.Graph().as_default(), tf.device(config.variables_device()):
        first = tf.get_variable("first", [1], use_resource=True)
        shape = tf.raw_ops.VariableShape(input=first.handle)
        table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        assert (tf.constant(1).device, shape.device) == ("", "")
        devices = [first.device, table.resource_handle.device, tf.get_variable("c", [1]).device]
    assert devices == [config.ps_task_device(task) for task in range(3)]
    config = DeploymentConfig(num_ps_tasks=2)
    with tf.Graph().as_default(), tf.device(config.variables_device()):
        with tf.device("/job:worker/device:CPU:0"):
            own = tf.get_variable("own", [1])
        assert own.device == "/job:worker/device:CPU:0"
        assert tf.get_variable("next", [1]).device == config.ps_task_device(0)
