import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import ModelOutput
from tf_frame.errors import CheckpointError, DataError
from tf_frame.estimator.evaluate import evaluate
from tf_frame.plugin import InputInfo, Mode
from tf_frame.session.interrupts import Interrupted, Interrupts
from tf_frame.testing.toy import WEIGHTS, ToyInput, ToyModel, make_job


@pytest.fixture
def checkpoint(tmp_path):
    """A checkpoint of the toy model with the right weights and no offset, at step 7."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("linear/weights", initializer=WEIGHTS)
        tf.get_variable("linear/biases", initializer=np.zeros([1], np.float32))
        session.run([tf.global_variables_initializer(), tf.train.create_global_step().initializer])
        session.run(tf.train.get_global_step().assign(7))
        return tf.train.Saver().save(session, str(tmp_path / "model.ckpt"), global_step=7)


def evaluated(
    checkpoint,
    tmp_path,
    model=ToyModel,
    source=ToyInput,
    eval_steps=None,
    interrupts=None,
    **values,
):
    values = {name.replace("__", "."): value for name, value in values.items()}
    options = {"eval_batch_size": 5, "eval_steps": eval_steps}
    job = make_job(model, source, str(tmp_path), values=values, **options)
    return evaluate(
        job,
        model=job.make_model(InputInfo()),
        source=job.make_input(),
        checkpoint=checkpoint,
        interrupts=interrupts or Interrupts(),
    )


def test_every_example_counts_once_the_last_small_batch_too(checkpoint, tmp_path):
    metrics = evaluated(checkpoint, tmp_path, input__num_examples=13)
    assert metrics["mean_absolute_error"] == pytest.approx(3.0, abs=1e-5)
    assert metrics["loss"] == pytest.approx(9.0, abs=1e-5)


def test_the_figures_are_written_at_the_step_of_the_checkpoint(checkpoint, tmp_path):
    metrics = evaluated(checkpoint, tmp_path)
    (events,) = (tmp_path / "eval").iterdir()
    values = {
        value.tag: (event.step, value.simple_value)
        for event in tf.train.summary_iterator(str(events))
        for value in event.summary.value
    }
    assert values["metrics/loss"] == (7, pytest.approx(metrics["loss"]))


def test_a_metric_that_ignores_the_batch_does_not_keep_evaluation_going(checkpoint, tmp_path):
    class Constant(ToyModel):
        def build(self, features, labels, mode):
            super().build(features, labels, mode)
            return ModelOutput(metrics={"one": tf.metrics.mean(tf.constant(1.0))})

    assert evaluated(checkpoint, tmp_path, Constant) == {"one": 1.0}


def test_losses_of_the_collection_are_evaluated_too(checkpoint, tmp_path):
    class Collecting(ToyModel):
        def build(self, features, labels, mode):
            tf.losses.add_loss(super().build(features, labels, mode).loss)
            return ModelOutput()

    assert evaluated(checkpoint, tmp_path, Collecting) == {"loss": pytest.approx(9.0, abs=1e-5)}


class Endless(ToyInput):
    """Evaluation data that repeats, as training data does."""

    def dataset(self, mode, context):
        return super().dataset(Mode.TRAIN, context)


def test_data_that_never_ends_is_an_error(checkpoint, tmp_path):
    with pytest.raises(DataError, match="never ends; say how much: --eval_steps"):
        evaluated(checkpoint, tmp_path, source=Endless)


def test_eval_steps_end_an_evaluation_early(checkpoint, tmp_path):
    metrics = evaluated(checkpoint, tmp_path, source=Endless, eval_steps=3)
    assert metrics["loss"] == pytest.approx(9.0, abs=1e-5)


def test_an_empty_split_is_an_error(checkpoint, tmp_path):
    with pytest.raises(DataError, match="the evaluation split is empty"):
        evaluated(checkpoint, tmp_path, input__num_examples=0)


def test_a_checkpoint_of_another_model_is_an_error(checkpoint, tmp_path):
    class Bigger(ToyModel):
        def build(self, features, labels, mode):
            tf.get_variable("another", [2])
            return super().build(features, labels, mode)

    with pytest.raises(CheckpointError, match=r"another \[2\]: not in the checkpoint"):
        evaluated(checkpoint, tmp_path, Bigger)


def test_a_signal_stops_evaluation_between_batches(checkpoint, tmp_path):
    interrupts = Interrupts()

    class Interrupting(Endless):
        def dataset(self, mode, context):
            def note(features):
                interrupts.received = 15
                return features

            def pass_by(features, labels):
                noted = tf.numpy_function(note, [features], features.dtype)
                return tf.ensure_shape(noted, features.shape), labels

            return super().dataset(mode, context).map(pass_by).take(10**9)

    with pytest.raises(Interrupted, match="^SIGTERM: stopped") as error:
        evaluated(checkpoint, tmp_path, source=Interrupting, interrupts=interrupts)
    assert error.value.exit_code == 143
