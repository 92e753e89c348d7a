import pytest

from tf_frame.profiling.layer_names import (
    in_first_clone,
    in_scope,
    is_backward,
    layer_of,
    scopes_of,
)


@pytest.mark.parametrize(
    ("name", "layer"),
    [
        ("loss", ""),
        ("net/conv/Relu", "net/conv"),
        ("clone_1/net/conv/Relu", "net/conv"),
        ("net/conv/weights/part_0", "net/conv"),
        ("gradients/net/conv/Conv2D_grad/Conv2DBackpropInput", "net/conv"),
        ("gradients_1/net/conv/Conv2D_1_grad/tuple/control_dependency", "net/conv"),
        ("clone_1/gradients/clone_1/net/conv/Conv2D_grad/ShapeN", "net/conv"),
        ("train/gradients/loss_grad/Mul", ""),
        ("gradients/AddN_3", "gradients"),
        ("gradients/Fill", "gradients"),
    ],
)
def test_gradients_and_clones_belong_to_the_layer_of_the_forward_operation(name, layer):
    assert layer_of(name) == layer


def test_only_gradients_are_backward():
    assert is_backward("clone_0/gradients/clone_0/net/MatMul_grad/MatMul")
    assert not is_backward("net/my_gradients/MatMul")


def test_scopes_go_from_the_whole_model_to_the_layer():
    assert list(scopes_of("net/block1/conv")) == ["", "net", "net/block1", "net/block1/conv"]
    assert list(scopes_of("")) == [""]


def test_a_scope_has_whole_names_inside():
    assert in_scope("net/conv", "net") and in_scope("net", "net") and in_scope("net", "")
    assert not in_scope("net/conv10", "net/conv1")


def test_operations_outside_of_clones_count_as_of_the_first():
    assert in_first_clone("net/Relu") and in_first_clone("clone_0/net/Relu")
    assert not in_first_clone("clone_10/net/Relu")
