import inspect
import subprocess
import sys

import pytest
import tensorflow.compat.v1 as tf

import tf_frame.hooks
from tf_frame.config.option import declared_options
from tf_frame.config.run_options import RunOptions
from tf_frame.hooks.base import Hook
from tf_frame.hooks.checkpoint import CheckpointHook
from tf_frame.plugin.find import find_plugins
from tf_frame.plugin.kinds import HOOK
from tf_frame.session.schedule import Schedule

STOCK = [name for name in tf_frame.hooks.__all__ if hasattr(tf.train, name)]


def test_every_name_is_there():
    for name in tf_frame.hooks.__all__:
        assert getattr(tf_frame.hooks, name).__name__ == name


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"module tf_frame.hooks has no attribute 'Nothing'"):
        tf_frame.hooks.Nothing  # noqa: B018


def test_every_hook_class_of_tensorflow_has_its_drop_in():
    theirs = [
        name
        for name, cls in inspect.getmembers(tf.train, inspect.isclass)
        if issubclass(cls, tf.train.SessionRunHook) and cls is not tf.train.SessionRunHook
    ]
    assert sorted(theirs) == STOCK
    assert len(STOCK) == 10


@pytest.mark.parametrize("name", STOCK)
def test_a_drop_in_takes_the_same_arguments_in_the_same_order(name):
    def arguments(cls):
        return [
            (parameter.name, parameter.kind, parameter.default)
            for parameter in inspect.signature(cls.__init__).parameters.values()
            if parameter.kind is not inspect.Parameter.KEYWORD_ONLY  # Ours may take more.
        ]

    ours, theirs = getattr(tf_frame.hooks, name), getattr(tf.train, name)
    assert arguments(ours) == arguments(theirs)
    assert issubclass(ours, Hook) or ours is theirs
    overridden = (ours.before_run, ours.after_run) != (Hook.before_run, Hook.after_run)
    assert ours is theirs or overridden == ours.both_protocols


def test_two_of_them_are_those_of_tensorflow():
    ours = [name for name in STOCK if getattr(tf_frame.hooks, name) is getattr(tf.train, name)]
    assert ours == ["FeedFnHook", "FinalOpsHook"]
    # The first has to feed every step anyway, and for the second no step runs with hooks.
    schedule = Schedule([tf_frame.hooks.FinalOpsHook(None)])
    assert schedule.next(0)[0] == float("inf") and not schedule.keeps_fast_path_off()


def test_final_ops_run_after_the_last_step_and_before_the_last_checkpoint(tmp_path, build, train):
    graph = build()
    with graph.graph.as_default():
        (bias,) = (v for v in tf.trainable_variables() if v.op.name == "linear/biases")
        hook = tf_frame.hooks.FinalOpsHook([bias.assign([42.0]), graph.global_step])
    train(graph, [hook], to=2, save_every=100)
    assert hook.final_ops_values[1] == 2
    saved = tf.train.load_variable(str(tmp_path / "model.ckpt-2"), "linear/biases")
    assert saved.tolist() == [42.0]


def test_the_option_of_a_hook_exists():
    run_options = {f"--{option.name}" for option in declared_options(RunOptions)}
    plugins = {f"--hook {plugin.name}" for plugin in find_plugins() if plugin.kind is HOOK}
    exported = [getattr(tf_frame.hooks, name) for name in tf_frame.hooks.__all__]
    hooks = [cls for cls in exported if isinstance(cls, type) and issubclass(cls, Hook)]
    options = {hook.option for hook in hooks}
    assert {"--log_every_n_steps", "--hook slow_step", ""} < options
    assert options - {""} <= run_options | plugins


def test_the_hook_of_checkpoints_names_the_option_of_its_interval(tmp_path):
    by_steps, by_secs = (
        CheckpointHook(str(tmp_path), None, **interval)
        for interval in ({"every_steps": 5}, {"every_secs": 5})
    )
    assert by_steps.option == "--save_checkpoint_steps"
    assert by_secs.option == "--save_checkpoint_secs"


@pytest.mark.process
def test_the_package_itself_does_not_import_tensorflow():
    code = "import sys, tf_frame.hooks; print('tensorflow' in sys.modules)"
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert printed.stdout.strip() == "False"
