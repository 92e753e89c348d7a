"""The command line in the process of a test."""

import functools

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.cli.main import main


@pytest.fixture
def tf_frame(capsys):
    """Runs `tf-frame WORDS`; returns exit code, output and messages."""

    def tf_frame(*words):
        capsys.readouterr()
        code = main(list(map(str, words)))
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return code, out, err

    return tf_frame


@pytest.fixture
def run(request, tf_frame):
    """Runs the sub-command that the file of the test is named after, as `tf_frame` does."""
    return functools.partial(tf_frame, request.path.stem.removeprefix("test_"))


@pytest.fixture
def save_checkpoints():
    """Saves checkpoints, step -> name -> value, as a training does; returns the last path."""

    def save_checkpoints(folder, checkpoints):
        with tf.Graph().as_default(), tf.Session() as session:
            tf.train.create_global_step()
            (first, *_) = checkpoints.values()
            initial = {k: tf.constant(v) for k, v in first.items()}
            variables = {k: tf.get_variable(k, initializer=v) for k, v in initial.items()}
            session.run(tf.global_variables_initializer())
            saver = tf.train.Saver(save_relative_paths=True)
            for step, values in checkpoints.items():
                session.run(tf.train.get_global_step().assign(step))
                session.run([variables[name].assign(value) for name, value in values.items()])
                path = saver.save(session, str(folder / "model.ckpt"), global_step=step)
        return path

    return save_checkpoints
