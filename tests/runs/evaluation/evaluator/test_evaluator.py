"""Evaluations in one graph and one session."""

import dataclasses
import logging
import threading

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from recorded_steps import Recording
from tf_frame import ModelOutput
from tf_frame.errors import DataError
from tf_frame.hooks import Hook
from tf_frame.plugin import Mode
from tf_frame.testing.toy import WEIGHTS, ToyInput, ToyModel

from .conftest import changed, expected_metrics, figures, toy


def test_checkpoints_are_evaluated_one_after_the_other_in_one_graph_and_session(
    save, variable_mode
):
    evaluator, hook, sizes = toy(), Recording(), []
    for step, offset in [(1, 0.5), (2, -2.0), (3, 1.0), (2, -2.0)]:
        evaluated = evaluator.evaluate(save(step, offset), hooks=[hook])
        assert (evaluated.global_step, hook.step, evaluated.summary) == (step, step, None)
        assert evaluated.metrics == pytest.approx(expected_metrics(offset), abs=1e-5)
        sizes.append(len(evaluator.model.graph.get_operations()))
    assert evaluator.model.calls == evaluator.source.calls == 1
    assert len(set(sizes)) == 1
    assert all(hook.finalized)
    assert len(set(map(id, hook.sessions))) == 1


def test_an_evaluation_does_not_touch_the_graph_and_session_around_it(save):
    with tf.Graph().as_default() as graph, tf.Session() as session:
        one = tf.constant(1)
        graph.finalize()
        toy().evaluate(save(1))
        assert tf.get_default_graph() is graph
        assert session.run(one) == 1


def test_lines_of_the_models_hooks_reach_the_user(save):
    class Says(Hook):
        def end(self, session):
            self.report("an example was left out")

    evaluator, said = toy(changed(lambda output: dataclasses.replace(output, hooks=[Says()]))), []
    evaluator.report = said.append
    evaluator.evaluate(save(1))
    assert said == ["an example was left out"]


def safe(name, before_build=lambda: None):
    """Returns a toy model class, or a toy input class, with `thread_safe_build`."""

    class SafeModel(ToyModel):
        thread_safe_build = True

        def build(self, features, labels, mode):
            before_build()
            return super().build(features, labels, mode)

    class SafeInput(ToyInput):
        thread_safe_build = True

    return {"model": SafeModel, "source": SafeInput}[name]


def test_the_graph_is_built_in_another_thread_where_model_and_input_allow_it(save):
    threads, evaluation_may_begin = [], threading.Event()

    def note_thread():
        assert evaluation_may_begin.wait(20)
        threads.append(threading.get_ident())

    evaluator = toy(safe("model", note_thread), safe("source"))
    with tf.Graph().as_default() as graph:
        evaluator.prepare()
        evaluator.prepare()
        evaluation_may_begin.set()
        for offset in (0.5, -2.0):
            assert expected_metrics(offset) == figures(evaluator, save(1, offset))
        assert not graph.get_operations()
    evaluator.prepare()
    assert evaluator.model.calls == evaluator.source.calls == len(threads) == 1
    assert threads[0] != threading.get_ident()


class Begins(Hook):
    """Adds a variable before the session."""

    def begin(self):
        tf.get_variable("added", [], collections=["local_variables"])


def with_biases(read):
    """Returns a change of a model's output: one more metric, with the value of the biases."""

    def change(output):
        (biases,) = tf.global_variables("linear/biases")
        value = read(biases)
        return dataclasses.replace(output, metrics={**output.metrics, "biases": (value, value.op)})

    return change


def read_by_a_local_variable(biases):
    collections = ["local_variables"]
    return tf.Variable(biases.read_value, collections=collections, use_resource=True).read_value()


@pytest.mark.parametrize(
    ("change", "is_open"),
    [
        (with_biases(tf.identity), True),
        (lambda output: dataclasses.replace(output, hooks=[Hook()]), True),
        (lambda output: dataclasses.replace(output, hooks=[Begins()]), False),
        (lambda output: dataclasses.replace(output, scaffold=tf.train.Scaffold()), False),
        (with_biases(lambda biases: biases + 0 * tf.random.uniform([1])), False),
        (with_biases(read_by_a_local_variable), False),
    ],
    ids=["plain", "hook", "begin", "scaffold", "random", "local"],
)
def test_the_thread_opens_the_session_where_that_changes_nothing(
    save, change, is_open, monkeypatch
):
    made, init = [], tf.Session.__init__

    def noted_init(session, *args, **kwargs):
        made.append(session)
        init(session, *args, **kwargs)

    monkeypatch.setattr(tf.Session, "__init__", noted_init)

    class Changed(safe("model")):
        def build(self, features, labels, mode):
            return change(super().build(features, labels, mode))

    evaluator, opened = toy(Changed, safe("source")), []
    for prepares in (False, True):
        if prepares:
            evaluator.prepare()
            evaluator.metric_names()  # Waits for the thread.
        for offset in (0.5, -2.0):
            path = save(1, offset)
            del made[:]
            metrics = dict(evaluator.evaluate(path).metrics)
            opened += [not made] if offset > 0 else []
            assert metrics.pop("biases", 3 + offset) == 3 + offset
            assert metrics == pytest.approx(expected_metrics(offset), abs=1e-5)
        evaluator.close()
    assert opened == [False, is_open]


def test_data_without_end_is_an_error_of_the_evaluation_and_not_of_the_thread(save):
    class SafeEndless(Endless):
        thread_safe_build = True

    evaluator = toy(safe("model"), SafeEndless)
    evaluator.prepare()
    for _ in range(2):
        with pytest.raises(DataError, match="never ends; say how much: --eval_steps"):
            evaluator.evaluate(save(1))


@pytest.mark.parametrize("safe_part", [{}, {"model": safe("model")}, {"source": safe("source")}])
def test_nothing_is_built_beside_the_training_unless_both_allow_it(safe_part):
    evaluator = toy(**safe_part)
    evaluator.prepare()
    evaluator.close()
    assert evaluator.model.calls == evaluator.source.calls == 0


def test_an_error_of_the_other_thread_ends_the_evaluation_or_is_logged(save, caplog):
    evaluator = toy(safe("model", lambda: 1 // 0), safe("source"))
    evaluator.prepare()
    with pytest.raises(ZeroDivisionError):
        evaluator.evaluate(save(1))
    evaluator.prepare()
    evaluator.close()
    assert "the evaluation cannot be prepared: integer division" in caplog.text
    assert evaluator.model.calls == 2


class Queue(ToyInput):
    """The same data from a queue."""

    def dataset(self, mode, context):
        features = np.random.RandomState(0).randn(13, 3).astype(np.float32)
        labels = (features @ WEIGHTS + 3.0).astype(np.float32)
        one = tf.train.slice_input_producer([features, labels], num_epochs=1, shuffle=False)
        return lambda: tf.train.batch(one, 5, allow_smaller_final_batch=True)


class OneShot(ToyInput):
    def dataset(self, mode, context):
        dataset = super().dataset(mode, context)
        return tf.data.make_one_shot_iterator(dataset).get_next


@pytest.mark.slow
@pytest.mark.parametrize("source", [Queue, OneShot])
def test_inputs_that_only_a_new_session_begins_anew_get_one_on_the_same_graph(save, source, caplog):
    evaluator, hook = toy(source=source), Recording()
    with caplog.at_level(logging.INFO, "tf_frame"):
        for offset in (0.5, -2.0, 0.5):
            path = save(1, offset)
            assert expected_metrics(offset) == figures(evaluator, path, hooks=[hook])
    assert evaluator.model.calls == 1
    assert len(set(map(id, hook.sessions))) == 3
    assert any("each evaluation gets a new session" in r.message for r in caplog.records)


def noise_in_a_branch(shape):
    return tf.cond(tf.constant(True), lambda: tf.random.uniform(shape), lambda: tf.zeros(shape))


@pytest.mark.parametrize("draw", [tf.random.uniform, noise_in_a_branch])
def test_random_numbers_of_the_model_are_the_same_in_every_evaluation(save, draw):
    def noise(_):
        return ModelOutput(metrics={"noise": tf.metrics.mean(draw([4]))})

    evaluator, path = toy(changed(noise)), save(1)
    first, second = (evaluator.evaluate(path).metrics["noise"] for _ in range(2))
    assert 0 < first == second
    assert evaluator.model.calls == 1


def test_random_initial_values_do_not_cost_a_session(save):
    class Random(ToyModel):
        def build(self, features, labels, mode):
            tf.get_variable("other", [], initializer=tf.random_uniform_initializer())
            return super().build(features, labels, mode)

    evaluator, hook = toy(Random), Recording()
    for _ in range(2):
        evaluator.evaluate(save(1, other=0.5), hooks=[hook])
    assert hook.sessions[0] is hook.sessions[1]


def test_tables_are_initialised_once_and_iterators_of_the_model_each_time(save):
    filled = []

    def keys():
        filled.append(1)
        return np.array([0, 1, 2], np.int64)

    def look_up(_):
        tensors = tf.numpy_function(keys, [], tf.int64), tf.constant([5.0, 6.0, 7.0])
        tensors[0].set_shape([3])
        table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(*tensors), default_value=0.0
        )
        iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(3))
        tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
        found = table.lookup(iterator.get_next())
        return ModelOutput(metrics={"mean": tf.metrics.mean(found)})

    evaluator, path = toy(changed(look_up)), save(1)
    for _ in range(3):
        assert evaluator.evaluate(path).metrics == {"mean": 6.0}
    assert len(filled) == 1


def test_a_stop_ends_the_evaluation_with_the_figures_so_far(save, tmp_path):
    asked, steps = [], []

    def stop():
        asked.append(1)
        return len(asked) == 3

    evaluator, hook = toy(), Recording()
    evaluator.eval_dir = str(tmp_path / "eval")
    path = save(1)
    stopped = evaluator.evaluate(path, stop=stop, after_step=lambda: steps.append(1), hooks=[hook])
    assert (stopped.stopped, stopped.steps, len(steps)) == (True, 2, 2)
    assert hook.calls[-1] == "end"
    assert not (tmp_path / "eval").exists()
    first_two = toy(steps=2).evaluate(path).metrics
    assert stopped.metrics == pytest.approx(first_two)
    for stop, result in ((False, (False, 3)), (True, (True, 0))):
        evaluated = evaluator.evaluate(path, stop=lambda stop=stop: stop)
        assert (evaluated.stopped, evaluated.steps) == result


def test_the_names_of_metrics_are_known_before_the_first_evaluation(save):
    def add_metrics(output):
        table = tf.zeros([2, 2]), tf.no_op()
        text = tf.constant(b"summary"), tf.no_op()
        return dataclasses.replace(
            output, metrics={**output.metrics, "table": table, "image": text}
        )

    evaluator = toy(changed(add_metrics))
    assert evaluator.metric_names() == ["mean_absolute_error", "loss"]
    evaluator.evaluate(save(1))
    assert evaluator.model.calls == 1


def test_metrics_may_be_arrays_and_texts(save):
    def metrics_of_other_kinds(_):
        shape = tf.metrics.mean_tensor(tf.constant([1.0, 2.0]))
        text = tf.summary.scalar("a", 5.0, collections=[])
        return ModelOutput(metrics={"array": shape, "text": (text, tf.no_op())})

    metrics = toy(changed(metrics_of_other_kinds)).evaluate(save(1)).metrics
    np.testing.assert_array_equal(metrics["array"], [1.0, 2.0])
    assert tf.Summary.FromString(metrics["text"]).value[0].simple_value == 5.0


def test_summaries_are_those_of_the_first_batch(save):
    class Summarising(ToyModel):
        def build(self, features, labels, mode):
            tf.summary.scalar("first", features[0, 0])
            return super().build(features, labels, mode)

    expected = np.random.RandomState(0).randn(13, 3)[0, 0]
    evaluator = toy(Summarising)
    for _ in range(2):
        (value,) = tf.Summary.FromString(evaluator.evaluate(save(1)).summary).value
        assert (value.tag, value.simple_value) == ("first", pytest.approx(expected))


class Endless(ToyInput):
    def dataset(self, mode, context):
        return super().dataset(Mode.TRAIN, context)


@pytest.mark.parametrize(("source", "options"), [(Endless, {"eval_steps": 7}), (Queue, {})])
def test_steps_are_batches_at_most_whatever_the_options_say(save, source, options):
    evaluator, hook = toy(source=source, steps=2, **options), Recording()
    for _ in range(2):
        del hook.calls[:]
        evaluator.evaluate(save(1), hooks=[hook])
        assert hook.calls.count("after") == 2


def test_data_without_end_or_without_anything_is_an_error(save):
    with pytest.raises(DataError, match="never ends; say how much: --eval_steps"):
        toy(source=Endless).evaluate(save(1))
    with pytest.raises(DataError, match="the evaluation split is empty"):
        toy(num_examples=0).evaluate(save(1))


def test_a_closed_evaluator_begins_anew(save):
    evaluator = toy()
    evaluator.evaluate(save(1))
    evaluator.close()
    evaluator.close()
    assert expected_metrics(2.0) == figures(evaluator, save(1, 2.0))
    assert evaluator.model.calls == 2


def test_the_session_has_the_devices_of_the_options_and_the_configuration(save, monkeypatch):
    protos = []
    make = tf.Session.__init__

    def noted(self, target="", graph=None, config=None):
        protos.append(config)
        make(self, target, graph, config)

    monkeypatch.setattr(tf.Session, "__init__", noted)
    evaluator = toy(inter_op_threads=3, gpus=(0,))
    evaluator.session_config = tf.ConfigProto(device_count={"CPU": 3})
    evaluator.evaluate(save(1))
    assert protos[-1].inter_op_parallelism_threads == 3
    assert protos[-1].gpu_options.visible_device_list == "0"
    assert protos[-1].device_count["CPU"] == 3
