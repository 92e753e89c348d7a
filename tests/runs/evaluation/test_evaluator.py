"""Evaluations in one graph and one session."""

import ctypes
import dataclasses
import logging
import os
import sys
from pathlib import Path

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

import forked
from tf_frame import ModelOutput
from tf_frame.config.run_options import RunOptions
from tf_frame.errors import CheckpointError, DataError
from tf_frame.plugin import InputInfo, Mode
from tf_frame.runs.evaluation.evaluator import Evaluator, EvaluatorCache, trim_memory
from tf_frame.testing.toy import WEIGHTS, ToyInput, ToyModel


@pytest.fixture
def save(tmp_path):
    """Saves the toy model with the right weights and an offset of its biases, at a step."""

    def save(step, offset=0.0, folder="run", **others):
        with tf.Graph().as_default(), tf.Session() as session:
            tf.get_variable("linear/weights", initializer=WEIGHTS)
            tf.get_variable("linear/biases", initializer=np.array([3 + offset], np.float32))
            for name, value in others.items():
                tf.get_variable(name, initializer=np.float32(value))
            tf.get_variable(
                "global_step", initializer=np.int64(step), trainable=False, use_resource=True
            )
            session.run(tf.global_variables_initializer())
            path = str(tmp_path / folder / "model.ckpt")
            return tf.train.Saver().save(session, path, global_step=step)

    return save


class Counted:
    """Counts how often a plugin is asked for its part of a graph."""

    def __init__(self, plugin):
        self.plugin, self.calls = plugin, 0

    def __getattr__(self, name):
        return getattr(self.plugin, name)

    def dataset(self, mode, context):
        self.calls += 1
        return self.plugin.dataset(mode, context)

    def build(self, features, labels, mode):
        self.calls += 1
        self.graph = tf.get_default_graph()
        return self.plugin.build(features, labels, mode)


def toy(model=ToyModel, source=ToyInput, steps=None, num_examples=13, **options):
    """An evaluator of batches of 5, whose model and source are counted."""
    config = RunOptions(eval_batch_size=5, **options)
    params = ToyInput.Params(num_examples=num_examples)
    evaluator = Evaluator(
        model=Counted(model(params=ToyModel.Params(), info=InputInfo())),
        source=Counted(source(params=params)),
        config=config,
        steps=steps,
    )
    return evaluator


class Watching(tf.train.SessionRunHook):
    """Notes each call, the session, and whether the graph could still be changed."""

    def __init__(self, name="", calls=None):
        self.name, self.calls = name, [] if calls is None else calls
        self.sessions, self.finalized = [], []

    def note(self, call):
        self.calls.append(f"{self.name}{call}")

    def begin(self):
        self.note("begin")

    def after_create_session(self, session, coord):
        self.note("created")
        assert isinstance(session, tf.Session)
        self.sessions.append(session)

    def before_run(self, run_context):
        self.note("before")
        self.finalized.append(tf.get_default_graph().finalized)
        return tf.train.SessionRunArgs(tf.train.get_global_step())

    def after_run(self, run_context, run_values):
        self.note("after")
        self.step = run_values.results

    def end(self, session):
        self.note("end")


def figures(evaluator, checkpoint, **arguments):
    metrics = evaluator.evaluate(checkpoint, **arguments).metrics
    return {name: pytest.approx(value, abs=1e-5) for name, value in metrics.items()}


def error_of(offset):
    return {"mean_absolute_error": abs(offset), "loss": offset**2}


def test_checkpoints_are_evaluated_one_after_the_other_in_one_graph_and_session(
    save, variable_mode
):
    evaluator, hook, sizes = toy(), Watching(), []
    for step, offset in [(1, 0.5), (2, -2.0), (3, 1.0), (2, -2.0)]:
        evaluated = evaluator.evaluate(save(step, offset), hooks=[hook])
        assert (evaluated.global_step, hook.step, evaluated.summary) == (step, step, None)
        assert evaluated.metrics == pytest.approx(error_of(offset), abs=1e-5)
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


def test_hooks_get_their_whole_life_those_of_the_caller_before_the_models(save):
    class Hooked(ToyModel):
        def build(self, features, labels, mode):
            output = super().build(features, labels, mode)
            self.hook = Watching("model ", calls)
            return ModelOutput(loss=output.loss, hooks=[self.hook])

    calls = []
    evaluator = toy(Hooked, num_examples=6)
    expected = [f"{who}{call}" for call in ("begin", "created") for who in ("", "model ")]
    expected += ["before", "model before", "after", "model after"] * 2
    # The run that found the end of the data has no after_run.
    expected += ["before", "model before", "end", "model end"]
    for _ in range(2):
        del calls[:]
        evaluator.evaluate(save(1), hooks=[Watching(calls=calls)])
        assert calls == expected
    assert evaluator.model.calls == 1


@pytest.mark.slow
@pytest.mark.parametrize("end", [StopIteration, tf.errors.OutOfRangeError(None, None, "the end")])
def test_a_hook_may_say_that_the_data_ends(save, end):
    class Feeds(tf.train.SessionRunHook):
        batches = 0

        def before_run(self, run_context):
            self.batches += 1
            if self.batches == 3:
                raise end

    evaluated = toy(steps=None, num_examples=20).evaluate(save(1), hooks=[Feeds()])
    two = toy(steps=2, num_examples=20).evaluate(save(1))
    assert evaluated.metrics == two.metrics


def test_metrics_are_read_when_the_other_hooks_have_ended(save):
    class Sets(tf.train.SessionRunHook):
        def end(self, session):
            session.run(self.op)

    hook = Sets()

    class Late(ToyModel):
        def build(self, features, labels, mode):
            output = super().build(features, labels, mode)
            late = tf.get_variable("late", initializer=0.0, collections=["local_variables"])
            hook.op = late.assign(7.0).op
            metrics = {**output.metrics, "late": (late.read_value(), tf.no_op())}
            return dataclasses.replace(output, metrics=metrics)

    assert toy(Late).evaluate(save(1), hooks=[hook]).metrics["late"] == 7.0


def test_a_hook_may_end_an_evaluation(save):
    class Stop(tf.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            run_context.request_stop()

    class Number(ToyModel):
        def build(self, features, labels, mode):
            super().build(features, labels, mode)
            batches = tf.Variable(0.0, collections=["local_variables"])
            one = tf.cast(tf.shape(features)[0] > 0, tf.float32)
            return ModelOutput(metrics={"n": (batches.read_value(), batches.assign_add(one))})

    evaluator = toy(Number)
    assert evaluator.evaluate(save(1), hooks=[Stop()]).metrics == {"n": 1}
    assert evaluator.evaluate(save(1)).metrics == {"n": 3}


class Adding(tf.train.SessionRunHook):
    """Adds a variable of the evaluation and one of the graph, and counts batches with both."""

    def begin(self):
        with tf.variable_scope("adding", reuse=tf.AUTO_REUSE):
            zero = tf.zeros_initializer()
            of_evaluation = tf.get_variable(
                "a", [], initializer=zero, collections=["local_variables"]
            )
            of_graph = tf.get_variable("b", [], initializer=zero)
        self.count = [of_evaluation.assign_add(1), of_graph.assign_add(1)]

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self.count)

    def after_run(self, run_context, run_values):
        self.counted = run_values.results


@pytest.mark.slow
def test_a_hook_that_adds_operations_works_and_costs_the_next_evaluation_a_graph(
    save, variable_mode, caplog
):
    evaluator, hook, path = toy(), Adding(), save(1, 2.0)
    evaluator.evaluate(path)
    with caplog.at_level(logging.WARNING, "tf_frame"):
        for builds in (1, 2, 3):
            assert error_of(2.0) == figures(evaluator, path, hooks=[hook])
            assert hook.counted == [3, 3]
            assert evaluator.model.calls == builds
    assert error_of(2.0) == figures(evaluator, path)
    assert evaluator.model.calls == 4
    assert [r.message for r in caplog.records if "adds operations in begin" in r.message] == [
        "a hook of the evaluation adds operations in begin(), so each evaluation needs a new "
        "graph; to keep the graph, let the model make the operations"
    ]


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


@pytest.mark.parametrize("source", [Queue, OneShot])
def test_inputs_that_only_a_new_session_begins_anew_get_one_on_the_same_graph(save, source, caplog):
    evaluator, hook = toy(source=source), Watching()
    with caplog.at_level(logging.INFO, "tf_frame"):
        for offset in (0.5, -2.0, 0.5):
            path = save(1, offset)
            assert error_of(offset) == figures(evaluator, path, hooks=[hook])
    assert evaluator.model.calls == 1
    assert len(set(map(id, hook.sessions))) == 3
    assert any("each evaluation gets a new session" in r.message for r in caplog.records)


def noise_in_a_branch(shape):
    return tf.cond(tf.constant(True), lambda: tf.random.uniform(shape), lambda: tf.zeros(shape))


@pytest.mark.parametrize("draw", [tf.random.uniform, noise_in_a_branch])
def test_random_numbers_of_the_model_are_the_same_in_every_evaluation(save, draw):
    class Noisy(ToyModel):
        def build(self, features, labels, mode):
            super().build(features, labels, mode)
            return ModelOutput(metrics={"noise": tf.metrics.mean(draw([4]))})

    evaluator, path = toy(Noisy), save(1)
    first, second = (evaluator.evaluate(path).metrics["noise"] for _ in range(2))
    assert 0 < first == second
    assert evaluator.model.calls == 1


def test_random_initial_values_do_not_cost_a_session(save):
    class Random(ToyModel):
        def build(self, features, labels, mode):
            tf.get_variable("other", [], initializer=tf.random_uniform_initializer())
            return super().build(features, labels, mode)

    evaluator, hook = toy(Random), Watching()
    for _ in range(2):
        evaluator.evaluate(save(1, other=0.5), hooks=[hook])
    assert hook.sessions[0] is hook.sessions[1]


def test_tables_are_initialised_once_and_iterators_of_the_model_each_time(save):
    filled = []

    def keys():
        filled.append(1)
        return np.array([0, 1, 2], np.int64)

    class Looking(ToyModel):
        def build(self, features, labels, mode):
            super().build(features, labels, mode)
            tensors = tf.numpy_function(keys, [], tf.int64), tf.constant([5.0, 6.0, 7.0])
            tensors[0].set_shape([3])
            table = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer(*tensors), default_value=0.0
            )
            iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(3))
            tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, iterator.initializer)
            found = table.lookup(iterator.get_next())
            return ModelOutput(metrics={"mean": tf.metrics.mean(found)})

    evaluator, path = toy(Looking), save(1)
    for _ in range(3):
        assert evaluator.evaluate(path).metrics == {"mean": 6.0}
    assert len(filled) == 1


def test_the_scaffold_of_a_model_restores_and_initialises(save, variable_mode):
    class Scaffolded(ToyModel):
        def build(self, features, labels, mode):
            output = super().build(features, labels, mode)
            five = tf.Variable(1.0, collections=["local_variables"])
            by_name = {v.op.name: v for v in tf.global_variables()}
            by_name["other"] = by_name.pop("linear/biases")
            fed = tf.placeholder(tf.float32, [])
            scaffold = tf.train.Scaffold(
                saver=tf.train.Saver(by_name),
                local_init_op=five.assign(fed).op,
                local_init_feed_dict={fed: 5.0},
            )
            read = tf.identity(five)
            return ModelOutput(
                loss=output.loss, metrics={"five": (read, read.op)}, scaffold=scaffold
            )

    evaluator = toy(Scaffolded)
    for other in (4.0, 1.0):
        metrics = evaluator.evaluate(save(1, other=[other])).metrics
        assert metrics == pytest.approx({"five": 5.0, "loss": (other - 3) ** 2}, abs=1e-5)
    assert evaluator.model.calls == 1


def test_a_saver_of_the_models_own_has_to_restore_every_variable(save):
    class Leaving(ToyModel):
        def build(self, features, labels, mode):
            output = super().build(features, labels, mode)
            saver = tf.train.Saver(tf.global_variables("linear/weights"))
            return ModelOutput(loss=output.loss, scaffold=tf.train.Scaffold(saver=saver))

    with pytest.raises(CheckpointError, match="without a value: .*linear/biases"):
        toy(Leaving).evaluate(save(1))


def test_initial_values_are_evaluated_where_there_is_no_checkpoint(save):
    class Scaffolded(ToyModel):
        def build(self, features, labels, mode):
            output = super().build(features, labels, mode)
            weights, biases = tf.trainable_variables()
            fed = tf.placeholder(tf.float32, [3, 1])
            step = tf.train.get_global_step()
            init_op = tf.group(weights.assign(fed), biases.initializer, step.initializer)

            def init_fn(scaffold, session):
                biases.load(np.array([7.0], np.float32), session)

            scaffold = tf.train.Scaffold(
                init_op=init_op, init_feed_dict={fed: WEIGHTS}, init_fn=init_fn
            )
            return ModelOutput(loss=output.loss, scaffold=scaffold)

    evaluator = toy(Scaffolded)
    evaluated = evaluator.evaluate(None)
    assert evaluated.metrics["loss"] == pytest.approx(16.0, abs=1e-5)  # Seven is not three.
    assert evaluated.global_step == 0
    assert evaluator.evaluate(save(1, 2.0)).metrics["loss"] == pytest.approx(4.0, abs=1e-5)
    assert evaluator.evaluate(None).metrics["loss"] == pytest.approx(16.0, abs=1e-5)


def test_initial_values_take_a_new_session_only_where_they_are_random(save):
    class Random(ToyModel):
        initializer = tf.random_uniform_initializer()

        def build(self, features, labels, mode):
            super().build(features, labels, mode)
            drawn = tf.get_variable("drawn", [], initializer=self.initializer)
            return ModelOutput(metrics={"drawn": (drawn.read_value(), tf.no_op())})

    class Ones(Random):
        initializer = tf.ones_initializer()

    for model, sessions in [(Random, 2), (Ones, 1)]:
        evaluator, hook = toy(model), Watching()
        first, second = (evaluator.evaluate(None, hooks=[hook]).metrics for _ in range(2))
        assert first == second
        assert len(set(map(id, hook.sessions))) == sessions


def test_moving_averages_stand_for_the_variables(save):
    averages = {
        "linear/weights/ExponentialMovingAverage": WEIGHTS,
        "linear/biases/ExponentialMovingAverage": [4.0],
    }
    evaluator = toy(moving_average_decay=0.9)
    with pytest.raises(CheckpointError, match="holds no moving averages"):
        evaluator.evaluate(save(1))
    assert error_of(1.0) == figures(evaluator, save(2, 5.0, **averages))
    raw = toy(moving_average_decay=0.9, eval_moving_averages=False)
    assert error_of(5.0) == figures(raw, save(2, 5.0, **averages))


def test_a_checkpoint_may_hold_more_and_lie_in_another_folder(save):
    evaluator = toy()
    evaluator.evaluate(save(1))
    assert error_of(2.0) == figures(evaluator, save(5, 2.0, folder="elsewhere", momentum=[1.0]))


def delete(prefix):
    for file in Path(prefix).parent.glob(Path(prefix).name + ".*"):
        file.unlink()


def damage_index(prefix):
    Path(prefix + ".index").write_bytes(b"nothing")


def damage_data(prefix):
    (file,) = Path(prefix).parent.glob(Path(prefix).name + ".data*")
    file.write_bytes(bytes(byte ^ 0xFF for byte in file.read_bytes()))


def cut_data(prefix):
    (file,) = Path(prefix).parent.glob(Path(prefix).name + ".data*")
    file.write_bytes(file.read_bytes()[:3])


@pytest.mark.parametrize(
    "harm",
    [
        pytest.param(delete, marks=pytest.mark.slow),
        pytest.param(damage_index, marks=pytest.mark.slow),
        damage_data,
        cut_data,
    ],
)
@pytest.mark.parametrize("first", [True, False], ids=["first", "later"])
def test_an_unreadable_checkpoint_is_an_error_and_the_next_one_is_evaluated(save, harm, first):
    evaluator = toy()
    if not first:
        evaluator.evaluate(save(1))
    path = save(2)
    harm(path)
    with pytest.raises(CheckpointError, match=r"model.ckpt-2 cannot be read: \S+"):
        evaluator.evaluate(path)
    assert error_of(2.0) == figures(evaluator, save(3, 2.0))


def test_a_checkpoint_of_another_model_is_an_error_and_the_next_one_is_evaluated(save):
    class Bigger(ToyModel):
        def build(self, features, labels, mode):
            tf.get_variable("another", [])
            return super().build(features, labels, mode)

    evaluator = toy(Bigger)
    with pytest.raises(CheckpointError, match=r"another \[\]: not in the checkpoint"):
        evaluator.evaluate(save(1))
    assert error_of(2.0) == figures(evaluator, save(2, 2.0, another=1.0))
    assert evaluator.model.calls == 1


def test_a_stop_ends_the_evaluation_with_the_figures_so_far(save, tmp_path):
    asked, steps = [], []

    def stop():
        asked.append(1)
        return len(asked) == 3

    evaluator, hook = toy(), Watching()
    evaluator.eval_dir = str(tmp_path / "eval")
    path = save(1)
    stopped = evaluator.evaluate(path, stop=stop, after_step=lambda: steps.append(1), hooks=[hook])
    assert (stopped.stopped, stopped.steps, len(steps)) == (True, 2, 2)
    assert hook.calls[-1] == "end"
    assert not (tmp_path / "eval").exists()
    first_two = toy(steps=2).evaluate(path).metrics
    assert stopped.metrics == pytest.approx(first_two)
    whole = evaluator.evaluate(path, stop=lambda: False)
    assert (whole.stopped, whole.steps) == (False, 3)


def test_an_evaluation_that_is_stopped_before_the_first_batch_has_no_steps(save):
    evaluated = toy().evaluate(save(1), stop=lambda: True)
    assert (evaluated.stopped, evaluated.steps) == (True, 0)


def test_sessions_have_the_devices_of_the_options(save, monkeypatch):
    protos = []
    make = tf.Session.__init__

    def noted(self, target="", graph=None, config=None):
        protos.append(config)
        make(self, target, graph, config)

    monkeypatch.setattr(tf.Session, "__init__", noted)
    toy(inter_op_threads=3, gpus=(0,)).evaluate(save(1))
    assert protos[-1].inter_op_parallelism_threads == 3
    assert protos[-1].gpu_options.visible_device_list == "0"


def test_the_names_of_metrics_are_known_before_the_first_evaluation(save):
    class More(ToyModel):
        def build(self, features, labels, mode):
            output = super().build(features, labels, mode)
            table = tf.zeros([2, 2]), tf.no_op()
            text = tf.constant(b"summary"), tf.no_op()
            return dataclasses.replace(
                output, metrics={**output.metrics, "table": table, "image": text}
            )

    evaluator = toy(More)
    assert evaluator.metric_names() == ["mean_absolute_error", "loss"]
    evaluator.evaluate(save(1))
    assert evaluator.model.calls == 1


@pytest.mark.parametrize(
    "call",
    [
        pytest.param("begin", marks=pytest.mark.slow),
        pytest.param("after_create_session", marks=pytest.mark.slow),
        "before_run",
        pytest.param("after_run", marks=pytest.mark.slow),
        "end",
    ],
)
def test_a_hook_that_fails_does_not_harm_the_next_evaluation(save, call):
    evaluator, path = toy(), save(1, 2.0)
    evaluator.evaluate(path)
    hook = tf.train.SessionRunHook()

    def fail(*arguments):
        raise ZeroDivisionError("of the hook")

    setattr(hook, call, fail)
    with pytest.raises(ZeroDivisionError, match="of the hook"):
        evaluator.evaluate(path, hooks=[hook])
    # Not even for one that adds operations to the graph.
    assert error_of(2.0) == figures(evaluator, path, hooks=[Adding()])


def test_metrics_may_be_arrays_and_texts(save):
    class Various(ToyModel):
        def build(self, features, labels, mode):
            super().build(features, labels, mode)
            shape = tf.metrics.mean_tensor(tf.constant([1.0, 2.0]))
            text = tf.summary.scalar("a", 5.0, collections=[])
            return ModelOutput(metrics={"array": shape, "text": (text, tf.no_op())})

    metrics = toy(Various).evaluate(save(1)).metrics
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


def test_steps_are_batches_at_most_whatever_the_options_say(save):
    evaluator, hook = toy(source=Endless, steps=2, eval_steps=7), Watching()
    for _ in range(2):
        del hook.calls[:]
        evaluator.evaluate(save(1), hooks=[hook])
        assert hook.calls.count("after") == 2


def test_steps_count_for_a_queue_too(save):
    evaluator, hook = toy(source=Queue, steps=2), Watching()
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
    assert error_of(2.0) == figures(evaluator, save(1, 2.0))
    assert evaluator.model.calls == 2


def test_the_session_gets_the_configuration(save):
    config = tf.ConfigProto(intra_op_parallelism_threads=1, device_count={"CPU": 3})
    evaluator = toy()
    evaluator.session_config = config
    hook = Watching()
    evaluator.evaluate(save(1), hooks=[hook])
    assert len([d for d in hook.sessions[0].list_devices() if d.device_type == "CPU"]) == 3


MEMORY = """
import sys
import tensorflow.compat.v1 as tf
from tf_frame.runs.evaluation.evaluator import Evaluator
from tf_frame.config.run_options import RunOptions
from tf_frame.plugin import InputInfo
from tf_frame.testing.toy import ToyInput, ToyModel

evaluator = Evaluator(
    model=ToyModel(params=ToyModel.Params(), info=InputInfo()),
    source=ToyInput(params=ToyInput.Params()),
    config=RunOptions(eval_batch_size=2),
    steps=None,
)
for count in range(1, 51):
    evaluator.evaluate(sys.argv[1])
    if count in (5, 50):
        print(open("/proc/self/statm").read().split()[1])
"""


@pytest.mark.slow
@pytest.mark.process
def test_fifty_evaluations_take_no_more_memory_than_five(save):
    done = forked.run(
        [sys.executable, "-c", MEMORY, save(1)], capture_output=True, text=True, check=True
    )
    after_five, after_fifty = map(int, done.stdout.split())
    assert after_fifty < 1.02 * after_five


class FakeEvaluator:
    """Counts how often it is closed."""

    closed = 0

    def close(self):
        self.closed += 1


def test_an_evaluator_is_kept_for_its_name_and_key():
    kept = EvaluatorCache()
    first, second = kept.get("a", 1, FakeEvaluator), kept.get("b", 1, FakeEvaluator)
    assert kept.get("a", 1, FakeEvaluator) is first is not second
    assert kept.get("b", 1, FakeEvaluator) is second
    assert (first.closed, second.closed) == (0, 0)


def test_for_another_key_it_is_closed_before_another_is_made():
    kept = EvaluatorCache()
    first = kept.get("a", 1, FakeEvaluator)
    seen = []

    def make():
        seen.append(first.closed)
        return FakeEvaluator()

    second = kept.get("a", 2, make)
    assert (seen, second.closed) == ([1], 0)
    assert kept.get("a", 2, FakeEvaluator) is second


def test_one_that_cannot_be_made_leaves_none():
    kept = EvaluatorCache()
    first = kept.get("a", 1, FakeEvaluator)
    with pytest.raises(ZeroDivisionError):
        kept.get("a", 2, lambda: 1 // 0)
    assert kept.get("a", 1, FakeEvaluator) is not first
    assert first.closed == 1


def test_all_are_closed_at_the_end():
    kept = EvaluatorCache()
    made = [kept.get(name, 1, FakeEvaluator) for name in "ab"]
    kept.close()
    assert [each.closed for each in made] == [1, 1]
    kept.close()
    assert kept.get("a", 1, FakeEvaluator) not in made


LIBC = ctypes.CDLL(None)
BLOCK, COUNT = 4000, 20000


def resident_bytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not hasattr(LIBC, "malloc_trim"), reason="the C library is not glibc")
def test_what_was_freed_is_given_back():
    LIBC.malloc.restype = ctypes.c_void_p
    LIBC.malloc.argtypes, LIBC.free.argtypes = [ctypes.c_size_t], [ctypes.c_void_p]
    blocks = [LIBC.malloc(BLOCK) for _ in range(COUNT)]
    for block in blocks:
        ctypes.memset(block, 1, BLOCK)
    # The last one keeps the heap from shrinking by itself.
    for block in blocks[:-1]:
        LIBC.free(block)
    before = resident_bytes()
    trim_memory()
    assert before - resident_bytes() > BLOCK * COUNT / 2
    LIBC.free(blocks[-1])


def test_without_glibc_nothing_is_done(monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    trim_memory()
