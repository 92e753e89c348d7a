import inspect
import subprocess
import sys

import pytest
import tensorflow.compat.v1 as tf

import tf_frame.hooks

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

    ours = getattr(tf_frame.hooks, name)
    assert arguments(ours) == arguments(getattr(tf.train, name))
    assert issubclass(ours, tf_frame.hooks.Hook)


@pytest.mark.process
def test_the_room_itself_does_not_import_tensorflow():
    code = "import sys, tf_frame.hooks; print('tensorflow' in sys.modules)"
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert printed.stdout.strip() == "False"
