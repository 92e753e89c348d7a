"""Lines of plugins' code that an exception, or a failed operation, comes from."""

import pytest
import tensorflow as tf2
import tensorflow.compat.v1 as tf

from tf_frame.plugin.frames import find_failed_operation, find_plugin_code, find_python_error
from tf_frame.plugin.kinds import MODEL
from tf_frame.plugin.load import load_plugin

pytestmark = pytest.mark.usefixtures("filtered_tracebacks", "own_stacks")


SOURCE = """
import tensorflow as tf2
import tensorflow.compat.v1 as tf
from tf_frame import Model
class Net(Model):
    def build(self, features, labels, mode):
        pass
    def gathered(self, row):
        return tf.gather(tf.ones([3]), row)
    def function(self):
        return tf.py_func(self.fail, [1.0], tf.float32)
    def fail(self, value):
        raise ValueError("out of bounds")
    def dataset(self):
        return tf2.data.Dataset.range(2).map(lambda x: self.parse(x))
    def parse(self, x):
        if x > 0:
            return x
        return x.no_such_name
"""


@pytest.fixture
def model(install):
    install("fake-a", "neta", SOURCE)
    return load_plugin(MODEL, "neta").cls(params=None, info=None)


def failure(tensor, **feed):
    with tf.Session() as session, pytest.raises(tf.errors.OpError) as caught:
        session.run(tensor, feed.get("feed"))
    return caught.value


def lines(origin):
    return [(frame.line, frame.function) for frame in origin.frames]


def assert_gathered(origin):
    assert (origin.operation, lines(origin)) == ("GatherV2", [(9, "gathered")])


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_an_operation_is_found_in_the_message_of_a_session(model):
    row = tf.placeholder(tf.int32, [])
    origin = find_plugin_code(failure(model.gathered(row), feed={row: 5}))
    assert_gathered(origin)


def test_an_operation_is_found_for_the_error_of_a_prepared_call(model, graph):
    row = tf.placeholder(tf.int32, [])
    with tf.Session() as session:
        run = session.make_callable(model.gathered(row), feed_list=[row])
        with pytest.raises(tf.errors.InvalidArgumentError) as caught:
            run(5)
    origin = find_failed_operation(caught.value, graph)
    assert_gathered(origin)


def test_a_gradient_belongs_to_the_operation_that_the_plugin_made(model, graph):
    gathered = model.gathered(tf.constant([0]))
    op = tf.gradients(gathered, gathered.op.inputs[0])[0].values.op
    message = f"no\n\t [[{{{{node {op.name}}}}}]]"
    origin = find_failed_operation(tf.errors.InvalidArgumentError(None, None, message), graph)
    assert_gathered(origin)


def test_an_error_of_a_machine_says_nothing_about_an_operation(model, graph):
    model.gathered(0)
    error = tf.errors.UnavailableError(None, None, "lost\n\t [[{{node GatherV2}}]]")
    assert find_failed_operation(error, graph) is None
    assert not find_plugin_code(error).frames


def test_an_operation_of_another_graph_is_not_found(model, graph):
    error = tf.errors.InvalidArgumentError(None, None, "no\n\t [[{{node GatherV2}}]]")
    assert find_failed_operation(error, graph) is None


def test_the_error_of_a_python_function_is_found(model, graph):
    error = failure(model.function())
    assert find_python_error(error) == "ValueError: out of bounds"
    assert lines(find_plugin_code(error)) == [(13, "fail")]
    assert find_failed_operation(error, graph) is None


def test_autograph_names_the_line_in_the_original_function(model):
    with pytest.raises(AttributeError) as caught:
        model.dataset()
    # AutoGraph knows the statement, here `if`, but not the line within it.
    assert lines(find_plugin_code(caught.value))[-1] == (17, "parse")


def test_no_python_error_is_found_where_there_is_none():
    assert find_python_error(ValueError("no")) == ""
    assert tf2.__version__
