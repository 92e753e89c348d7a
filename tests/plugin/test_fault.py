"""Messages of exceptions in plugins' code; scenarios/test_faulty_plugins.py has a table."""

import re

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.plugin.configured import ConfiguredPlugin, guard
from tf_frame.plugin.fault import calling, find_fault, note_failed_step, note_hint
from tf_frame.plugin.kinds import MODEL
from tf_frame.plugin.load import load_plugin

pytestmark = pytest.mark.usefixtures("filtered_tracebacks")


SOURCE = """
from tf_frame import Model
class Net(Model):
    def build(self, features, labels, mode):
        return self.helper(features)
    def helper(self, wanted):
        if wanted == "import":
            import no_such_module
        raise wanted
"""
ME = "the model 'neta' of fake-a 1.0"


@pytest.fixture
def model(install):
    install("fake-a", "neta", SOURCE)
    return ConfiguredPlugin("neta", load_plugin(MODEL, "neta"), None).make(info=None)


def build_error(model, raised):
    with pytest.raises(BaseException) as caught:
        model.build(raised, None, None)
    return caught.value


@pytest.mark.parametrize(
    ("raised", "text"),
    [
        (ValueError("too deep"), "ValueError: too deep"),
        (ValueError("two\n  lines"), "ValueError: two lines"),
        (ValueError(), "ValueError"),
        (KeyError("x"), "KeyError: 'x'"),
        (OSError(2, "No such file", "/a"), "OSError: /a: No such file"),
        (SystemExit(3), "SystemExit: 3"),
    ],
)
def test_the_headline_names_plugin_method_error_and_place(model, raised, text):
    error = build_error(model, raised)
    assert type(error) is type(raised)
    expected = f"build() of {ME} raised {text.replace('OSError', type(raised).__name__)}"
    assert find_fault(error).headline == f"{expected} (fake_a.py, line 9)"


def test_the_frames_are_only_the_plugins(model):
    frames = find_fault(build_error(model, ValueError())).frames
    assert [(frame.line, frame.function) for frame in frames] == [(5, "build"), (9, "helper")]
    assert str(frames[1]).splitlines()[1] == "    raise wanted"


def test_an_error_outside_of_plugins_is_no_fault(model):
    with pytest.raises(ZeroDivisionError) as caught:
        1 / 0  # noqa: B018
    assert find_fault(caught.value) is None


def test_a_call_that_never_reaches_the_plugin_is_at_the_definition_of_the_method(model):
    with pytest.raises(TypeError) as caught:
        model.build()
    fault = find_fault(caught.value)
    assert fault.headline.startswith(f"build() of {ME} raised TypeError: Net.build() missing 3")
    assert fault.headline.endswith("(fake_a.py, line 4)")


def test_a_missing_module_has_a_hint(model):
    hint = find_fault(build_error(model, "import")).hint
    assert hint.startswith("pip install the package that has the module 'no_such_module'")


def test_a_name_of_tensorflow_1_has_a_hint(model):
    error = AttributeError("module 'tensorflow' has no attribute 'get_variable'")
    assert find_fault(build_error(model, error)).hint == (
        "tf.get_variable is a name of TensorFlow 1: write import tensorflow.compat.v1 as tf in "
        "place of import tensorflow as tf"
    )


@pytest.mark.parametrize(
    ("error", "hint"),
    [
        (
            AttributeError("`dense` is not available with Keras 3."),
            "dense of tf.layers or .*: use ",
        ),
        (
            AttributeError("module 'tensorflow.compat.v1' has no attribute 'contrib'"),
            "TensorFlow 2 ",
        ),
        (
            ModuleNotFoundError("No module named 'tensorflow.contrib'", name="tensorflow.contrib"),
            "",
        ),
    ],
)
def test_a_name_that_tensorflow_has_removed_has_a_hint(model, error, hint):
    assert re.match(f"{hint}.*tf_frame.layers", find_fault(build_error(model, error)).hint)


def test_a_syntax_error_shows_the_line(model):
    error = SyntaxError("invalid syntax", ("/site/part.py", 3, 5, "  x = = 1\n"))
    text = "SyntaxError: invalid syntax (part.py, line 3): x = = 1"
    assert text in find_fault(build_error(model, error)).headline


def test_the_first_note_stays(model):
    error = build_error(model, ValueError("no"))
    note_hint(error, "first")
    note_hint(error, "second")
    with pytest.raises(ValueError, match="no"), calling(None, "other"):
        raise error
    assert find_fault(error).hint == "first"
    assert find_fault(error).headline.startswith(f"build() of {ME}")


def test_the_step_is_said(model):
    error = build_error(model, ValueError("no"))
    note_failed_step(error, 7, None)
    assert find_fault(error).headline.startswith(f"at step 7, build() of {ME} raised")


def test_an_object_of_a_plugin_that_runs_code_of_a_library_is_found(model):
    hook = tf.train.LoggingTensorHook(["nothing:0"], every_n_iter=1)
    guard(hook, load_plugin(MODEL, "neta").info)
    with tf.Graph().as_default(), pytest.raises(KeyError) as caught:
        hook.begin()
    assert find_fault(caught.value).headline.startswith(f"begin() of {ME} raised KeyError: ")


def test_an_error_without_attributes_of_its_own_passes():
    class Slotted(Exception):
        __slots__ = ()

        def __setattr__(self, name, value):
            raise AttributeError(name)

    with pytest.raises(Slotted), calling(None, "other"):
        raise Slotted
