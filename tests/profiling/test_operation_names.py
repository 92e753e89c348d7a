import pytest

from tf_frame.profiling.operation_names import (
    enclosing_scopes,
    in_first_clone,
    in_scope,
    is_backward,
    layer_and_clone,
    layer_name,
    short_device,
)


@pytest.mark.parametrize(
    ("name", "layer"),
    [
        ("loss", ""),
        ("net/conv/Relu", "net/conv"),
        ("clone_1/net/conv/Relu", "net/conv"),
        ("net/conv/weights/part_0", "net/conv"),
        ("gradients/net/conv/Conv2D_grad/Conv2DBackpropInput", "net/conv"),
        ("recompute_1/clone_1/net/conv/Relu", "net/conv"),
        ("gradients_1/net/conv/Conv2D_1_grad/tuple/control_dependency", "net/conv"),
        ("clone_1/gradients/clone_1/net/conv/Conv2D_grad/ShapeN", "net/conv"),
        ("train/gradients/loss_grad/Mul", ""),
        ("gradients/AddN_3", "gradients"),
        ("gradients/Fill", "gradients"),
    ],
)
def test_gradients_and_clones_belong_to_the_layer_of_the_forward_operation(name, layer):
    assert layer_name(name) == layer


def test_gradients_scopes_and_clones():
    assert is_backward("clone_0/gradients/clone_0/net/MatMul_grad/MatMul")
    assert not is_backward("net/my_gradients/MatMul")
    assert enclosing_scopes("net/block1/conv") == ["", "net", "net/block1", "net/block1/conv"]
    assert enclosing_scopes("") == [""]
    # Only whole names are inside of a scope.
    assert in_scope("net/conv", "net") and in_scope("net", "net") and in_scope("net", "")
    assert not in_scope("net/conv10", "net/conv1")
    assert in_first_clone("net/Relu") and in_first_clone("clone_0/net/Relu")
    assert not in_first_clone("clone_10/net/Relu")


@pytest.mark.parametrize(
    ("name", "layer", "clone"),
    [
        ("global_step", "", ""),
        ("net/conv1/Conv2D", "net/conv1", ""),
        ("clone_1/net/conv1/Conv2D", "net/conv1", "clone_1"),
        ("gradients/net/conv1/Conv2D_grad/Conv2DBackpropInput", "net/conv1", ""),
        ("clone_0/gradients/clone_0/net/conv1/Relu_grad/ReluGrad", "net/conv1", "clone_0"),
        ("gradients_1/net/conv1/Conv2D_grad/tuple/group_deps", "net/conv1", ""),
        ("gradients/AddN_3", "gradients", ""),
        ("gradients/Mean_grad/Reshape", "", ""),
        ("net/a_grad/conv/Conv2D", "net/a_grad/conv", ""),
        ("Momentum/update_net/conv1/weights/ResourceApplyMomentum", "Momentum", ""),
        ("net/BatchNorm/AssignMovingAvg_1/sub", "net/BatchNorm", ""),
        ("ConstantFolding/gradients/net/mul_grad/recip", "net", ""),
        ("ArithmeticOptimizer/net/add", "net", ""),
    ],
)
def test_layer_and_clone_of_operations(name, layer, clone):
    assert layer_and_clone(name, ("clone_0", "clone_1")) == (layer, clone)


@pytest.mark.parametrize(
    ("device", "task", "short"),
    [
        ("/job:localhost/replica:0/task:0/device:CPU:0", "worker_0", "CPU:0"),
        ("/job:worker/replica:0/task:1/device:CPU:0", "worker_1", "CPU:0"),
        ("/job:ps/replica:0/task:0/device:CPU:0", "worker_1", "ps_0 CPU:0"),
        ("/job:worker/replica:0/task:0/device:GPU:0", "worker_1", "worker_0 GPU:0"),
        ("/device:GPU:0/stream:all", "worker_0", "device:GPU:0/stream:all"),
    ],
)
def test_short_names_of_devices(device, task, short):
    assert short_device(device, task) == short
