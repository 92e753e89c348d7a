import json

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import ModelOutput
from tf_frame.errors import CheckpointError, DataError
from tf_frame.estimator.evaluate import evaluate, numbers, write_evaluation, write_figures
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


def values_in(folder):
    (file,) = folder.iterdir()
    return {
        value.tag: (event.step, value)
        for event in tf.train.summary_iterator(str(file))
        for value in event.summary.value
    }


@pytest.mark.parametrize(
    "number",
    [0.5, 3, np.float64(0.5), np.int64(7), np.bool_(True), tf.bfloat16.as_numpy_dtype(0.5)],
    ids=lambda number: type(number).__name__,
)
def test_numbers_of_every_kind_become_scalars(tmp_path, number):
    write_evaluation(str(tmp_path / "eval"), {"a": number}, None, 4)
    step, value = values_in(tmp_path / "eval")["metrics/a"]
    assert (step, value.simple_value) == (4, float(number))
    assert numbers({"a": number, "b": None}) == {"a": float(number)}


def test_arrays_become_tensors_and_serialised_summaries_what_they_are(tmp_path):
    image = tf.Summary.Image(height=1, width=2, encoded_image_string=b"png")
    summary = tf.Summary(value=[tf.Summary.Value(tag="x", image=image)] * 2)
    metrics = {"array": np.array([1.0, 2.0]), "image": summary.SerializeToString()}
    write_evaluation(str(tmp_path / "eval"), metrics, None, 4, prefix="")
    found = values_in(tmp_path / "eval")
    np.testing.assert_array_equal(tf.make_ndarray(found["array"][1].tensor), [1.0, 2.0])
    assert [found[f"image/{i}"][1].image for i in (0, 1)] == [image, image]
    assert numbers(metrics) == {}


def test_what_is_no_event_is_passed_over_with_a_warning_and_none_without(tmp_path, caplog):
    metrics = {"none": None, "text": "words", "bytes": b"\xff\xffno summary"}
    write_evaluation(str(tmp_path / "eval"), metrics, None, 4)
    assert values_in(tmp_path / "eval") == {}
    text, serialized = [record.message for record in caplog.records]
    assert text == "the metric metrics/text is not written as an event: 'words'"
    assert serialized == "the metric metrics/bytes is not written as an event: it is no tf.Summary"


def test_summaries_and_the_checkpoint_are_written_beside_the_metrics(tmp_path):
    summary = tf.Summary(value=[tf.Summary.Value(tag="of_batch", simple_value=2.0)])
    serialized = summary.SerializeToString()
    write_evaluation(str(tmp_path / "eval"), {}, serialized, 4, checkpoint="run/model.ckpt-4")
    found = values_in(tmp_path / "eval")
    assert found["of_batch"][1].simple_value == 2.0
    assert tf.make_ndarray(found["checkpoint_path"][1].tensor) == b"run/model.ckpt-4"
    assert {step for step, _ in found.values()} == {4}


def test_several_evaluations_share_one_file_of_events(tmp_path):
    for step in (4, 8):
        write_evaluation(str(tmp_path / "eval"), {"a": step}, None, step)
    assert values_in(tmp_path / "eval")["metrics/a"][0] == 8


def test_the_figures_of_the_last_evaluation_are_a_file_for_programs(tmp_path):
    for step, metrics in [
        (4, {"old": 1.0}),
        (8, {"a": np.float32(0.5), "b": np.array([[1, 2]]), "c": b"image", "d": "text"}),
    ]:
        path = write_figures(str(tmp_path), metrics, step, f"model.ckpt-{step}")
    assert path == str(tmp_path / "metrics.json")
    assert json.loads((tmp_path / "metrics.json").read_text()) == {
        "checkpoint": "model.ckpt-8",
        "global_step": 8,
        "metrics": {"a": 0.5, "b": [[1, 2]]},
    }
