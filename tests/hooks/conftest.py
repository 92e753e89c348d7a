import logging

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import newest_checkpoint
from tf_frame.cluster import Cluster
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.session_config import make_deployment, session_config
from tf_frame.hooks.checkpoint import CheckpointHook
from tf_frame.hooks.stock.stop_at_step import StopAtStepHook
from tf_frame.session.job_member import JobMember
from tf_frame.session.monitored import monitored_session
from tf_frame.testing.clock import FakeClock
from tf_frame.testing.toy import ToyModel, build_toy_graph

CONFIG = RunOptions(train_batch_size=8, learning_rate=0.05)


@pytest.fixture
def build():
    """Builds a training graph of the toy model."""

    def build(config=CONFIG, **params):
        return build_toy_graph(config, model=ToyModel(params=ToyModel.Params(**params), info=None))

    return build


@pytest.fixture
def train(tmp_path):
    """Trains a graph in `tmp_path` to a step; returns the number of calls of the train op.

    `each` is called after every step. With `save_every` checkpoints are saved every so many steps.
    """

    def train(graph, hooks, *, to, each=None, save_every=None):
        config, calls = session_config(CONFIG, make_deployment(CONFIG, Cluster())), 0
        with graph.graph.as_default():
            hooks = [*hooks, StopAtStepHook(last_step=to)]
            if save_every is not None:
                save = CheckpointHook(str(tmp_path), graph.scaffold, every_steps=save_every)
                hooks.append(save)
            with monitored_session(
                graph,
                hooks=hooks,
                member=JobMember(cluster=Cluster(), model_dir=str(tmp_path)),
                config=config,
                checkpoint=newest_checkpoint(str(tmp_path)),
            ) as session:
                while not session.should_stop():
                    session.run(graph.train_op)
                    calls += 1
                    if each is not None:
                        each(session)
        return calls

    return train


@pytest.fixture
def clock():
    """Stands in for `time.monotonic`; `clock.now` is what it says."""
    with FakeClock("monotonic") as clock:
        yield clock


@pytest.fixture
def tensorflow_lines(caplog):
    """Returns a function that returns the lines of TensorFlow's log since its last call."""
    level = tf.logging.get_verbosity()
    tf.logging.set_verbosity(tf.logging.INFO)
    caplog.set_level(logging.INFO, logger="tensorflow")

    def lines():
        messages = [r.getMessage() for r in caplog.records if r.levelno >= logging.INFO]
        caplog.clear()
        return messages

    yield lines
    tf.logging.set_verbosity(level)


@pytest.fixture(autouse=True)
def closed_writers():
    """Closes the event files that a test opened."""
    yield
    tf.summary.FileWriterCache.clear()
