import pytest
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import newest_checkpoint
from tf_frame.cluster import Cluster
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.session_config import make_deployment, session_config
from tf_frame.hooks.checkpoint import CheckpointHook
from tf_frame.hooks.stock.stop_at_step import StopAtStepHook
from tf_frame.plugin import InputInfo
from tf_frame.session.job_member import JobMember
from tf_frame.session.loop import TrainingLoop
from tf_frame.session.monitored import monitored_session
from tf_frame.session.schedule import Schedule
from tf_frame.testing.toy import ToyInput, ToyModel, build_toy_graph

CONFIG = RunOptions(train_batch_size=8, learning_rate=0.05)


@pytest.fixture
def build():
    """Builds a training graph of the toy model and input, or of others."""

    def build(model=ToyModel, source=ToyInput):
        return build_toy_graph(
            CONFIG,
            model=model(params=model.Params(), info=InputInfo()),
            source=source(params=source.Params()),
        )

    return build


@pytest.fixture
def open_session(tmp_path):
    """Opens the monitored session of a graph, or of a loop over it, in `tmp_path`."""

    def open_session(graph, hooks=()):
        return monitored_session(
            graph,
            hooks=hooks,
            member=JobMember(cluster=Cluster(), model_dir=str(tmp_path)),
            config=session_config(CONFIG, make_deployment(CONFIG, Cluster())),
            checkpoint=newest_checkpoint(str(tmp_path)),
        )

    return open_session


@pytest.fixture
def run_loop(open_session):
    """Runs a graph with hooks; returns the `TrainingLoop` afterwards."""

    def run_loop(graph, hooks, *, sort=True, step_loop=None):
        with graph.graph.as_default():
            loop = TrainingLoop(graph, Schedule(hooks, sort=sort), step_loop=step_loop)
            with open_session(graph, loop.hooks) as session:
                loop.run(session)
        return loop

    return run_loop


@pytest.fixture
def train(tmp_path, run_loop):
    """Trains a graph to a step and saves every so many; returns its variables at the end."""

    def train(graph, *, to, save_every=1, hooks=()):
        with graph.graph.as_default():
            variables = {v.op.name: v.read_value() for v in tf.trainable_variables()}
            save = CheckpointHook(str(tmp_path), graph.scaffold, every_steps=save_every)
        last = Last(variables)
        run_loop(graph, [save, StopAtStepHook(last_step=to), last, *hooks])
        return last.values

    return train


class Last(tf.train.SessionRunHook):
    """Reads variables when the session ends well."""

    def __init__(self, variables):
        self.variables = variables

    def end(self, session):
        self.values = session.run(self.variables)
