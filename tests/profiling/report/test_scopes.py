import pytest

from tf_frame.profiling.report.scopes import place_of, short_device

CLONES = ("clone_0", "clone_1")


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
def test_place(name, layer, clone):
    assert place_of(name, CLONES) == (layer, clone)


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
def test_short_device(device, task, short):
    assert short_device(device, task) == short
