"""Variables are dealt out to parameter servers in turn, and stay whole; the global step too."""

import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy import slim

pytestmark = pytest.mark.usefixtures("variable_mode")


def canonical(device):
    return tf.DeviceSpec.from_string(device).to_string()


def beside(variable):
    """Devices of the operations at a variable that have one of their own."""
    own = tf.get_default_graph().get_operations()
    return {op.device for op in own if op.name.startswith(f"{variable.op.name}/") and op.device}


def test_variables_go_to_the_tasks_in_turn_and_their_reads_with_them():
    chooser = slim.VariableDeviceChooser(num_tasks=2)
    with slim.arg_scope([slim.variable, slim.model_variable], device=chooser):
        first, second = slim.variable("a", [2]), slim.model_variable("b", [2])
        third = slim.variable("c", [], device="/device:CPU:12")
        fourth = slim.variable("d", [])
    tasks = [f"/job:ps/task:{task}/device:CPU:0" for task in (0, 1)]
    assert [canonical(v.device) for v in (first, second, fourth)] == [tasks[0], tasks[1], tasks[0]]
    assert canonical(third.device) == "/device:CPU:12"
    assert beside(first) <= {first.device}
    assert beside(second) <= {second.device}


def test_operations_without_state_stay_where_they_are():
    with tf.device(slim.VariableDeviceChooser(num_tasks=2)):
        plain = tf.constant(1.0)
        with tf.device("/device:CPU:1"):
            placed = tf.constant(1.0)
        variable = slim.variable("a", [])
    assert (plain.device, canonical(placed.device)) == ("", "/device:CPU:1")
    assert canonical(variable.device) == "/job:ps/task:0/device:CPU:0"


def test_without_parameter_servers_everything_goes_to_one_device():
    with slim.arg_scope([slim.variable], device=slim.VariableDeviceChooser(device_type="GPU")):
        assert canonical(slim.variable("a", []).device) == "/device:GPU:0"
    with tf.device(slim.VariableDeviceChooser()):
        assert canonical(tf.constant(0).device) == "/device:CPU:0"


def test_job_and_replica_may_be_named():
    chooser = slim.VariableDeviceChooser(1, "parameters", "GPU", 3, replica=2)
    with tf.device(chooser):
        device = slim.variable("a", []).device
    assert canonical(device) == canonical("/job:parameters/replica:2/task:0/device:GPU:3")


def test_the_inception_trainer_places_its_global_step_and_variables():
    chooser = slim.variables.VariableDeviceChooser(num_parameter_servers=2, ps_device="/job:ps")
    makers = [slim.variables.variable, slim.variables.global_step]
    with slim.scopes.arg_scope(makers, device=chooser):
        step = slim.variables.global_step()
        assert slim.variables.global_step() is step
        weights = slim.variables.variable("weights", [2])
    assert canonical(step.device) == "/job:ps/task:0/device:CPU:0"
    assert canonical(weights.device) == "/job:ps/task:1/device:CPU:0"
    assert tf.train.get_global_step() is step
    placed = slim.VariableDeviceChooser(placement="GPU:1")
    with tf.device(placed):
        assert canonical(slim.variable("b", []).device) == "/device:GPU:1"
    # With parameter servers the placement of a single machine counts for nothing.
    with tf.device(slim.VariableDeviceChooser(num_parameter_servers=1, placement="GPU:1")):
        assert canonical(slim.variable("c", []).device) == "/job:ps/task:0/device:CPU:0"


def test_tables_take_a_turn_too_and_what_fills_them_stays_beside_them():
    with tf.device(slim.VariableDeviceChooser(num_tasks=2)):
        slim.variable("a", [])
        table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(["a"], [1]), default_value=0
        )
    handle = table.resource_handle
    assert canonical(handle.device) == "/job:ps/task:1/device:CPU:0"
    users = [op for op in tf.get_default_graph().get_operations() if handle in op.inputs]
    assert {op.device for op in users} == {handle.device}


def test_the_global_step_is_made_once_and_checked():
    assert slim.get_global_step() is None
    assert slim.assert_or_get_global_step() is None
    step = slim.create_global_step()
    assert slim.get_or_create_global_step() is step
    assert slim.assert_or_get_global_step(global_step_tensor=step) is step
    with pytest.raises(ValueError, match="already exists"):
        slim.create_global_step()
    with pytest.raises(TypeError):
        slim.assert_global_step(tf.constant(1.0))
    with pytest.raises(TypeError, match="not scalar"):
        slim.assert_or_get_global_step(global_step_tensor=tf.constant([1, 2]))
