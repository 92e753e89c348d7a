"""The fake detector of the scripts, and trainers whose graphs are built but not run."""

import contextlib
import importlib.util
import types
from pathlib import Path

import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session, save_values
from tf_frame_legacy import learning

SCRIPTS = Path(__file__).parent / "scripts"
CONSTANT = {
    "momentum_optimizer": {"learning_rate": {"constant_learning_rate": {"learning_rate": 0.5}}},
    "use_moving_average": False,
}
# One thread, so that batches are in the order of the photographs.
CONFIG = {"batch_size": 4, "num_batch_queue_threads": 1, "optimizer": CONSTANT}
DEPLOYED = {
    "master": "",
    "task": 0,
    "num_clones": 1,
    "worker_replicas": 1,
    "clone_on_cpu": True,
    "ps_tasks": 0,
    "worker_job_name": "lonely_worker",
    "is_chief": True,
    "train_dir": "runs/detector",
}


def brighten(image, by):
    return image + by


def invert(image):
    return 255.0 - image


def _fake_detector():
    spec = importlib.util.spec_from_file_location("fake_detector", SCRIPTS / "fake_detector.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def fake_detector():
    return _fake_detector()


@pytest.fixture(scope="package")
def build():
    """Calls a trainer; returns its graph and what its loop was given, and runs nothing."""

    def loop(train_op, **kwargs):
        return types.SimpleNamespace(graph=tf.get_default_graph(), train_op=train_op, **kwargs)

    def build(train, *args, **kwargs):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(learning, "train", loop)
            return train(*args, **kwargs)

    return build


@pytest.fixture(scope="package")
def session_of():
    """A session of a built graph, with values in its variables and its queues running."""

    @contextlib.contextmanager
    def session_of(built):
        # Clones have devices that this machine may lack.
        config = tf.ConfigProto(allow_soft_placement=True)
        with initialized_session(built.graph, config) as session:
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            yield session
            coordinator.request_stop()
            session.close()
            coordinator.join(threads, ignore_live_threads=True)

    return session_of


@pytest.fixture(scope="package")
def checkpoint(tmp_path_factory):
    """Writes a checkpoint with these values; returns its path prefix."""

    def write(**values):
        path = tmp_path_factory.mktemp("other") / "model"
        return save_values(path, {n.replace("__", "/"): value for n, value in values.items()})

    return write


def tags(summary):
    """The tags and values of a serialised summary."""
    return {value.tag: value.simple_value for value in tf.Summary.FromString(summary).value}
