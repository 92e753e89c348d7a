import pytest
import tensorflow.compat.v1 as tf

from tf_frame.config.run_options import RunOptions
from tf_frame.profiling.model_cost import costs, model_layers, step_flops
from tf_frame.profiling.step_profile import Cost
from tf_frame.testing.toy import build_toy_graph


def network(images, *, trained=True):
    """A convolution and a dense layer; [batch, 8, 8, 3] -> [batch, 10]."""
    with tf.variable_scope("net"):
        with tf.variable_scope("conv"):
            kernel = tf.get_variable("weights", [3, 3, 3, 4])
            images = tf.nn.relu(tf.nn.conv2d(images, kernel, 2, "SAME"))
        with tf.variable_scope("dense"):
            weights = tf.get_variable("weights", [64, 10])
            logits = tf.matmul(tf.reshape(images, [-1, 64]), weights)
    loss = tf.reduce_mean(tf.square(logits), name="loss")
    if not trained:
        return logits
    with tf.control_dependencies([tf.train.GradientDescentOptimizer(0.1).minimize(loss)]):
        return tf.identity(loss)


def count_layers(batch, **options):
    with tf.Graph().as_default() as graph:
        step = network(tf.placeholder(tf.float32, [batch, 8, 8, 3]))
        layers = model_layers(graph, variables=tf.trainable_variables(), step=step, **options)
    return {layer.name: layer for layer in layers}


# Of one example.
CONV, DENSE = 4 * 4 * 4 * (3 * 3 * 3), 64 * 10


@pytest.fixture(scope="module")
def layers():
    return count_layers(2)


def test_layers_are_scopes_with_outputs_and_kept_activations(layers):
    names = ["", "net", "net/conv", "net/dense"]
    assert [name for name in layers if name in names] == names
    assert [layers[name].parameters for name in names] == [748, 748, 108, 640]
    products = [CONV + DENSE, CONV + DENSE, CONV, DENSE]
    assert [layers[name].multiply_adds for name in names] == [2 * each for each in products]
    outputs = {name: layers[name].output for name in ("", "net", "net/conv", "net/dense")}
    assert outputs == {
        "": None,
        "net": (2, 10),
        "net/conv": (2, 4, 4, 4),
        "net/dense": (2, 10),
    }
    # The output of ReLU is also the input of the dense layer; the images belong to no layer.
    assert layers["net/conv"].activation_bytes == 4 * 2 * 64
    assert layers["net/dense"].activation_bytes == 4 * 2 * 10
    assert layers[""].activation_bytes == 4 * 2 * (64 + 10 + 8 * 8 * 3)
    assert count_layers(None, batch_size=2) == layers


def test_gradients_and_updates_count_in_the_step(layers):
    conv, dense, whole = layers["net/conv"], layers["net/dense"], layers[""]
    # ReLU and its gradient; nothing reads a gradient of the images.
    assert conv.forward_flops == 2 * (2 * CONV + 64)
    assert conv.backward_flops == 2 * (2 * CONV + 64)
    assert dense.backward_flops == 2 * 2 * (2 * DENSE)
    # Each value of the weights: a product and a difference.
    assert whole.flops - whole.forward_flops - whole.backward_flops == 2 * 748
    assert layers["GradientDescent"].flops == 2 * 748
    with tf.Graph().as_default() as graph:
        step = network(tf.placeholder(tf.float32, [None, 8, 8, 3]))
        arguments = {"variables": tf.trainable_variables(), "step": step}
        known = costs(graph, batch_size=2, **arguments)
        unknown = costs(graph, **arguments)
    assert known[0] == Cost("", 748, layers[""].flops)
    assert Cost("net/conv", 108, layers["net/conv"].flops) in known
    assert "net/conv/Conv2D" not in [cost.scope for cost in known]
    assert unknown[0] == Cost("", 748, None)


@pytest.mark.usefixtures("graph")
@pytest.mark.parametrize(("batch_size", "count"), [(None, None), (8, 2 * 8 * 3 * 5 + 8 * 5)])
def test_the_operations_of_a_step_are_those_that_it_runs(batch_size, count):
    features = tf.placeholder(tf.float32, [None, 3])
    product = tf.matmul(features, tf.ones([3, 5]))
    tf.matmul(product, tf.ones([5, 99]))  # Which the step does not run.
    graph = tf.get_default_graph()
    assert step_flops(graph, tf.square(product), batch_size) == count


def test_costs_without_batch_size_or_training():
    layers = count_layers(None)
    assert layers[""].unknown_products == 5
    assert layers["net/conv"].output == (None, 4, 4, 4)
    assert layers[""].parameters == 748
    with tf.Graph().as_default() as graph:
        network(tf.placeholder(tf.float32, [1, 8, 8, 3]), trained=False)
        (whole, *_) = model_layers(graph, variables=tf.trainable_variables())
    assert (whole.multiply_adds, whole.activation_bytes) == (CONV + DENSE, 0)
    assert whole.flops == whole.forward_flops


def test_clones_are_counted_together():
    def cost(**options):
        built = build_toy_graph(RunOptions(train_batch_size=8, **options), optimizer="sgd")
        with built.graph.as_default():
            variables = tf.trainable_variables()
        return model_layers(built.graph, variables=variables, step=built.train_op)[0]

    one, two = cost(), cost(num_clones=2)
    assert (two.parameters, two.multiply_adds) == (one.parameters, one.multiply_adds) == (4, 8 * 3)
    # Each clone keeps scalars of its own.
    assert one.activation_bytes > 0
    assert two.activation_bytes == pytest.approx(one.activation_bytes, rel=0.1)
