import dataclasses
import functools
import json

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from slow_cases import slow_but
from tf_frame.checkpoint.find.reader import Checkpoint
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.errors import CheckpointError, ConfigError, DataError
from tf_frame.graph.inputs.pipeline import make_batches
from tf_frame.graph.inputs.position import make_input_position, step_name
from tf_frame.plugin import Input, InputContext, InputInfo, Mode

CONFIG = RunOptions(train_batch_size=2)


@dataclasses.dataclass(frozen=True)
class Params:
    crop_size: int = 65


class Built(Input):
    """Returns what a function of the context builds."""

    def __init__(self, build, examples=50, **params):
        super().__init__(params=Params(**params))
        self.build, self.examples = build, examples

    @property
    def info(self):
        return InputInfo(num_examples={Mode.TRAIN: self.examples})

    def dataset(self, mode, context):
        return self.build(context)


class Running:
    """A session that reads an input."""

    def __init__(self, build, *, config=CONFIG, **params):
        self.graph, self.source = tf.Graph(), Built(build, **params)
        deployment = DeploymentConfig(num_clones=config.num_clones, clone_on_cpu=True)
        with self.graph.as_default():
            tf.set_random_seed(config.random_seed)
            context = InputContext(config.clone_batch_size, seed=config.random_seed)
            self.batches = make_batches(self.source, Mode.TRAIN, context, deployment)
            self.position = make_input_position(self.source, config)
            self.given_step = tf.constant(3, tf.int64)
            self.session = tf.Session()
            self.session.run([tf.local_variables_initializer(), tf.tables_initializer()])
        self._make_save = functools.cache(self._make_save)

    def take(self, count):
        return [
            [part.tolist() for part in tf.nest.flatten(self.session.run(self.batches))]
            for _ in range(count)
        ]

    def save(self, path, leave_out=()):
        """Writes the position as a checkpoint, as the hook of checkpoints does."""
        prefix, save = self._make_save(tuple(leave_out))
        self.session.run(save, {prefix: str(path)})
        return str(path)

    def _make_save(self, leave_out):
        """Returns the placeholder of the path, and the operation that writes the position."""
        kept = {n: t for n, t in self.position.tensors.items() if n not in leave_out}
        with self.graph.as_default():
            prefix = tf.placeholder(tf.string, [])
            save = tf.raw_ops.SaveV2(
                prefix=prefix,
                tensor_names=["global_step", step_name(1), *kept],
                shape_and_slices=[""] * (len(kept) + 2),
                tensors=[tf.constant(3, tf.int64), self.given_step, *kept.values()],
            )
        return prefix, save

    def restore(self, path):
        lines = []
        self.position.restore(self.session, path, report=lines.append)
        return lines


def pairs(dataset):
    return dataset.map(lambda n: (n, -n))


def shuffled(context):
    """Shuffles, augments from the number of the example, reads ahead; an epoch is 20 examples."""

    def augmented(number, example):
        noise = tf.random.stateless_uniform([], [context.seed, number])
        return tf.cast(example, tf.float32) + noise, number

    numbers = tf.data.Dataset.range(20).shuffle(7, seed=context.seed).repeat()
    examples = numbers.enumerate().map(augmented, num_parallel_calls=2)
    return examples.batch(context.batch_size).prefetch(3)


def interleaved(context):
    files = tf.data.Dataset.range(5).shuffle(5, seed=context.seed).repeat()
    return pairs(
        files.interleave(
            lambda n: tf.data.Dataset.range(10 * n, 10 * n + 4),
            cycle_length=2,
            num_parallel_calls=2,
        )
    ).batch(context.batch_size)


def cached(context):
    return pairs(tf.data.Dataset.range(7).cache().shuffle(4, seed=context.seed).repeat()).batch(2)


def mixed(context):
    parts = [tf.data.Dataset.range(9).repeat(), tf.data.Dataset.range(100, 103).repeat()]
    return pairs(tf.data.Dataset.sample_from_datasets(parts, seed=context.seed)).batch(2)


def with_table(context):
    keys = tf.range(9, dtype=tf.int64)
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, keys * 7), -1)
    return pairs(tf.data.Dataset.range(9).repeat().map(table.lookup)).batch(2)


EXACT = [shuffled, interleaved, cached, mixed, with_table]


@pytest.mark.parametrize("build", slow_but((0, 2), EXACT))
@pytest.mark.parametrize("num_clones", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_batches_go_on_from_every_position(build, num_clones, tmp_path):
    config = RunOptions(train_batch_size=2 * num_clones, num_clones=num_clones)
    whole, paths, first = [], [], Running(build, config=config)
    for step in range(15):
        paths.append(first.save(tmp_path / f"model.ckpt-{step}"))
        whole += first.take(1)
    resumed = Running(build, config=config)
    for step, path in enumerate(paths):
        assert resumed.restore(path) == []
        assert resumed.take(15 - step) == whole[step:]


def test_an_iterator_that_reads_ahead_ends_before_another_is_restored(monkeypatch):
    running, runs = Running(interleaved), []
    state = running.session.run(running.position.tensors)
    monkeypatch.setattr(running.session, "run", lambda fetches, *_: runs.append(fetches))
    running.position.put(running.session, state)
    assert runs[0] is running.position.initializers
    assert [op.type for op in runs[1]] == ["DeserializeIterator"]


def test_positions_of_several_data_sets_and_after_the_last_batch(tmp_path):
    def build(context):
        return [shuffled(context), interleaved(context)]

    first = Running(build)
    assert sorted(first.position.tensors) == [
        "input_position/0",
        "input_position/1",
        "input_position/fingerprint",
    ]
    first.take(4)
    path = first.save(tmp_path / "model.ckpt-4")
    resumed = Running(build)
    resumed.restore(path)
    assert resumed.take(12) == first.take(12)

    def build(context):
        return pairs(tf.data.Dataset.range(4)).batch(2)

    first = Running(build)
    first.take(2)
    resumed = Running(build)
    resumed.restore(first.save(tmp_path / "model.ckpt-2"))
    with pytest.raises(tf.errors.OutOfRangeError):
        resumed.take(1)


def draw(number):
    return number, tf.random_uniform([])


def call_python(number):
    return number, tf.numpy_function(lambda value: value, [number], tf.int64)


def draw_in_branch(number):
    return number, tf.cond(number > 5, lambda: tf.random_uniform([]), lambda: 0.0)


def generate(numbers):
    spec = tf.TensorSpec([], tf.int64)
    return pairs(tf.data.Dataset.from_generator(lambda: iter([1]), output_signature=spec))


PYTHON, RANDOM = "replace its Python functions", "draw random numbers by stateless ops"
STATEFUL = {
    "random": (lambda numbers: numbers.map(draw), "RandomUniform"),
    "python": (lambda numbers: numbers.map(call_python), "PyFunc"),
    "branch": (lambda numbers: numbers.map(draw_in_branch), "RandomUniform"),
    "nested": (lambda numbers: numbers.interleave(lambda _: numbers.map(draw)), "RandomUniform"),
    "generator": (generate, "PyFunc"),
}


def stateful(kind):
    return STATEFUL[kind][0](tf.data.Dataset.range(20)).batch(2)


@pytest.mark.parametrize("kind", STATEFUL)
def test_an_input_with_a_state_of_its_own_is_refused(kind):
    running = Running(lambda context: stateful(kind))
    reason = f"{STATEFUL[kind][1]} is stateful"
    # Advice is for the operations that the input has, and for no other ones.
    remedy, other = (PYTHON, RANDOM) if reason.startswith("PyFunc") else (RANDOM, PYTHON)
    message = rf"^the position in the input cannot be saved: .*{reason}.*\n.*exact, {remedy}"
    with pytest.raises(DataError, match=message) as caught:
        running.position.check(running.session)
    assert other not in str(caught.value) + running.position.counted_advice


def test_python_functions_are_to_be_replaced_before_random_numbers_are():
    running = Running(lambda context: stateful("python").map(lambda *pair: (*pair[:1], draw(0)[1])))
    advice = running.position.counted_advice
    assert advice.index(PYTHON) < advice.index(RANDOM)


@pytest.mark.parametrize("build", EXACT)
def test_checking_takes_no_batch(build):
    running, other = Running(build), Running(build)
    running.position.check(running.session)
    assert running.take(3) == other.take(3)


def queue(context):
    batch = tf.zeros([context.batch_size]), tf.zeros([context.batch_size])
    return lambda: batch


@pytest.mark.parametrize("several", [False, True])
def test_a_function_that_reads_a_queue_is_refused(several):
    running = Running(
        lambda context: [queue(context), shuffled(context)] if several else queue(context)
    )
    message = r"cannot be saved: Built\.dataset\(\) returned no data set"
    with pytest.raises(DataError, match=message):
        running.position.check(running.session)


@pytest.mark.usefixtures("variable_mode")
def test_a_position_that_is_left_out_is_an_empty_text(tmp_path):
    running = Running(lambda context: stateful("random"))
    with pytest.raises(tf.errors.FailedPreconditionError):
        running.save(tmp_path / "fails")
    running.position.leave_out(running.session)
    path = running.save(tmp_path / "model.ckpt-0")
    assert Checkpoint(path).read("input_position/0").item() == b""
    message = rf"^the checkpoint {path} does not hold .*could not be saved\n--allow_inexact"
    with pytest.raises(CheckpointError, match=message):
        running.restore(path)


def test_the_position_is_no_variable_of_the_model_and_is_left_out_with_pending_gradients(caplog):
    running = Running(shuffled)
    with running.graph.as_default():
        assert tf.global_variables() == []
    caplog.set_level("INFO", logger="tf_frame")
    options = RunOptions(sync_replicas=True, replicas_to_aggregate=2)
    with tf.Graph().as_default():
        assert make_input_position(Built(shuffled), options) is None
    assert "the position in the input is not saved" in caplog.text


def test_checkpoints_without_position_and_positions_of_fewer_workers_are_refused(tmp_path):
    running = Running(shuffled)
    names = list(running.position.tensors)
    path = running.save(tmp_path / "model.ckpt-3", leave_out=names)
    message = rf"^the checkpoint {path} does not hold the position .*\n--allow_inexact_resume"
    with pytest.raises(CheckpointError, match=message):
        running.restore(path)
    path = Running(shuffled).save(tmp_path / "model.ckpt-3")
    added = Running(shuffled, config=RunOptions(train_batch_size=2, **TWO_WORKERS))
    with pytest.raises(ConfigError, match="workers none -> 2"):
        added.restore(path)


def test_a_position_of_another_number_of_workers_names_the_command_of_its_job(tmp_path):
    """A run of one process in the folder of a job."""
    workers = dataclasses.replace(CONFIG, worker_replicas=2)
    path = Running(shuffled, config=workers).save(tmp_path / "model.ckpt-3")
    command = f"tf-frame launch --num_workers 2 -- run --model_dir {tmp_path}"
    with pytest.raises(ConfigError, match=f"workers 2 -> none\nGo on by {command}; or"):
        Running(shuffled).restore(path)


TWO_CLONES = RunOptions(train_batch_size=4, num_clones=2)
OTHER = {
    "batch size": ({"config": RunOptions(train_batch_size=4)}, "batch size of a clone 2 -> 4"),
    "clones": ({"config": TWO_CLONES}, "--num_clones 1 -> 2"),
    "seed": ({"config": dataclasses.replace(CONFIG, random_seed=5)}, "--random_seed 1 -> 5"),
    "option": ({"crop_size": 33}, "--input.crop_size 65 -> 33"),
    "data": ({"examples": 40}, "training examples 50 -> 40"),
}


@pytest.mark.parametrize("name", OTHER)
def test_a_position_of_other_values_is_refused_by_their_names(name, tmp_path):
    other, said = OTHER[name]
    path = Running(shuffled).save(tmp_path / "model.ckpt-3")
    with pytest.raises(ConfigError, match=rf"not one of this run: {said}\n.*same values again"):
        Running(shuffled, **other).restore(path)


def test_other_inputs_and_changed_pipelines_are_refused(tmp_path):
    class Renamed(Built):
        pass

    path = Running(shuffled).save(tmp_path / "model.ckpt-3")
    running = Running(shuffled)
    with running.graph.as_default():
        renamed = make_input_position(Renamed(shuffled), CONFIG)
    with pytest.raises(ConfigError, match=r"input .*Built' -> .*Renamed'"):
        renamed.restore(running.session, path, report=pytest.fail)
    first = Running(shuffled)
    first.take(3)
    path = first.save(tmp_path / "model.ckpt-3")
    changed = Running(interleaved)
    with pytest.raises(CheckpointError, match=r"does not fit the input of this run: .*\nRun the"):
        changed.restore(path)
    assert changed.take(3) == Running(interleaved).take(3)


def test_another_version_of_tensorflow_is_only_a_warning(tmp_path, monkeypatch):
    first = Running(shuffled)
    first.take(3)
    path = first.save(tmp_path / "model.ckpt-3")
    version = tf.__version__
    monkeypatch.setattr(tf, "__version__", "9.9")
    resumed = Running(shuffled)
    (line,) = resumed.restore(path)
    assert line.startswith("warning: ") and f"TensorFlow '{version}' -> '9.9'" in line
    assert resumed.take(2) == first.take(2)


TWO_WORKERS = {"worker_replicas": 2, "num_ps_tasks": 1, "master": "grpc://localhost:1", "task": 1}


@pytest.mark.parametrize(("given", "sync", "lines"), [(3, True, 0), (2, True, 1), (2, False, 0)])
def test_a_worker_that_gave_its_position_at_another_step_says_so(tmp_path, given, sync, lines):
    """On its own, a worker gives it at the first step from the requested one on."""
    config = RunOptions(train_batch_size=2, sync_replicas=sync, **TWO_WORKERS)
    first = Running(shuffled, config=config)
    with first.graph.as_default():
        first.given_step = tf.constant(given, tf.int64)
    path = first.save(tmp_path / "model.ckpt-3")
    told = Running(shuffled, config=config).restore(path)
    expected = f"{path} holds the position of this worker in the input at step {given}"
    assert [expected in line for line in told] == [True] * lines


def test_the_fingerprint_is_short_text(tmp_path):
    path = Running(shuffled).save(tmp_path / "model.ckpt-3")
    fingerprint = json.loads(Checkpoint(path).read("input_position/fingerprint").item())
    assert fingerprint == {
        "input": f"{__name__}.Built",
        "--input.crop_size": 65,
        "training examples": 50,
        "batch size of a clone": 2,
        "--num_clones": 1,
        "--random_seed": 1,
        "TensorFlow": tf.__version__,
    }
    path = Running(shuffled, crop_size=(np.float32(1), 2)).save(tmp_path / "model.ckpt-3")
    assert Running(shuffled, crop_size=(np.float32(1), 2)).restore(path) == []
    with pytest.raises(ConfigError, match="crop_size"):
        Running(shuffled, crop_size=(np.float32(3), 2)).restore(path)


def test_each_worker_has_a_position_of_its_own_name():
    cluster = {"worker_replicas": 2, "num_ps_tasks": 1, "master": "grpc://localhost:1"}
    names = {}
    for task in (0, 1):
        with tf.Graph().as_default():
            context = InputContext(batch_size=4, seed=1)
            make_batches(Built(shuffled), Mode.TRAIN, context, DeploymentConfig())
            position = make_input_position(Built(shuffled), RunOptions(task=task, **cluster))
            names[task] = sorted(position.tensors)
            assert sorted(position.position_names([1, 2])) == [
                "input_position/worker_1/0",
                "input_position/worker_1/fingerprint",
                "input_position/worker_2/0",
                "input_position/worker_2/fingerprint",
            ]
    assert names[0] == ["input_position/0", "input_position/fingerprint"]
    assert names[1] == ["input_position/worker_1/0", "input_position/worker_1/fingerprint"]
    assert step_name(1) == "input_position/worker_1/step"
