import pytest
import tensorflow.compat.v1 as tf

from refusals import refusal
from tf_frame_legacy import learning

from ..signatures import list_arguments

pytestmark = pytest.mark.usefixtures("graph")


@pytest.fixture
def train_op(graph):
    w = tf.get_variable("w", initializer=tf.constant(4.0))
    return learning.create_train_op(tf.square(w), tf.train.GradientDescentOptimizer(0.1))


def test_arguments_of_train_and_their_defaults():
    assert list_arguments(learning.train_step) == "sess, train_op, global_step, train_step_kwargs"
    assert list_arguments(learning.train) == (
        f"train_op, logdir, train_step_fn={learning.train_step!r}, train_step_kwargs=0, "
        "log_every_n_steps=1, graph=None, master='', is_chief=True, global_step=None, "
        "number_of_steps=None, init_op=0, init_feed_dict=None, local_init_op=0, init_fn=None, "
        "ready_op=0, summary_op=0, save_summaries_secs=600, summary_writer=0, "
        "startup_delay_steps=0, saver=None, save_interval_secs=600, sync_optimizer=None, "
        "session_config=None, session_wrapper=None, trace_every_n_steps=None, "
        "ignore_live_threads=False"
    )


# The last check first. Each case is wrong in the ways before it too, for the order counts.
WRONG = [
    ("`number_of_steps` must be either None or a positive number.", {"number_of_steps": 0}),
    ("`number_of_steps` must be either None or a positive number.", {"number_of_steps": -1}),
    (
        "startup_delay_steps must be zero when sync_optimizer is supplied.",
        {"sync_optimizer": "SYNC", "startup_delay_steps": 1},
    ),
    (
        "Cannot provide trace_every_n_steps because logdir=None",
        {"trace_every_n_steps": 1},
    ),
    ("Cannot provide saver because logdir=None", {"saver": "any"}),
    ("Cannot provide summary_op because logdir=None", {"summary_op": None}),
]


@pytest.mark.parametrize("index", range(len(WRONG)))
def test_wrong_arguments_are_refused_in_slims_order(train_op, index):
    message, _ = WRONG[index]
    arguments = {"logdir": None}
    for _, wrong in WRONG[: index + 1]:
        arguments.update(wrong)
    assert refusal(learning.train, train_op, **arguments) == (ValueError, message)


def test_the_train_op_comes_first():
    arguments = {"summary_op": None, "number_of_steps": 0}
    assert refusal(learning.train, None, None, **arguments) == (
        ValueError,
        "train_op cannot be None.",
    )


@pytest.mark.parametrize("several", [False, True])
def test_the_sync_optimizer_must_be_one(train_op, several):
    other = tf.train.GradientDescentOptimizer(0.1)
    sync_optimizer = [other] if several else other
    message = "`sync_optimizer` must be a tf.train.SyncReplicasOptimizer."
    refused = refusal(learning.train, train_op, None, sync_optimizer=sync_optimizer)
    assert refused == (ValueError, message)


def test_a_summary_tensor_without_folder_is_refused(train_op):
    summary_op = tf.summary.scalar("one", 1.0)
    with pytest.raises(ValueError, match="Cannot provide summary_op because logdir=None"):
        learning.train(train_op, None, summary_op=summary_op)
