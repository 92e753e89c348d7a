import pytest
import tensorflow.compat.v1 as tf

from refusals import refusal
from tf_frame.estimator.exporters import Exporter, LatestExporter
from tf_frame.estimator.train_and_eval.specs import EvalSpec, TrainSpec
from tf_frame.testing.toy import ToyInput

HOOK, LISTENER = tf.train.SessionRunHook(), tf.train.CheckpointSaverListener()
EXPORTER = LatestExporter("latest", lambda: None)


class Named(Exporter):
    name = None

    def __init__(self, name):
        self.name = name

    def export(self, *args):
        raise AssertionError


def input_fn():
    return None


def test_specs_hold_what_they_were_given_and_have_defaults():
    assert TrainSpec(input_fn) == (input_fn, None, (), ())
    spec = TrainSpec(input_fn, max_steps=7, hooks=[HOOK], saving_listeners=[LISTENER])
    assert spec == (input_fn, 7, (HOOK,), (LISTENER,))
    given = {
        "input_fn": input_fn,
        "steps": None,
        "name": "holdout",
        "hooks": (HOOK,),
        "exporters": (EXPORTER,),
        "start_delay_secs": 3,
        "throttle_secs": 0,
    }
    assert EvalSpec(**given)._asdict() == given
    assert EvalSpec(input_fn) == (input_fn, 100, None, (), (), 120, 600)


@pytest.mark.parametrize("exporters", [EXPORTER, [EXPORTER], (EXPORTER,), iter([EXPORTER])])
def test_exporters_may_be_one_or_several_or_none(exporters):
    assert EvalSpec(input_fn, exporters=exporters).exporters == (EXPORTER,)
    for nothing in (None, [], ()):
        assert EvalSpec(input_fn, exporters=nothing).exporters == ()


@pytest.mark.parametrize("make", [TrainSpec, EvalSpec])
def test_an_input_object_is_taken_as_well(make):
    source = ToyInput(params=ToyInput.Params())
    assert make(source).input_fn is source


def spec_error(make, **arguments):
    return refusal(make, **{"input_fn": input_fn, **arguments})


@pytest.mark.parametrize("make", [TrainSpec, EvalSpec])
def test_an_input_and_hooks_of_another_kind_are_refused(make):
    assert spec_error(make, input_fn="data") == (
        TypeError,
        "`input_fn` must be callable, given: data",
    )
    assert spec_error(make, hooks=[HOOK, 3]) == (
        TypeError,
        "All hooks must be `SessionRunHook` instances, given: 3",
    )


def test_wrong_values_of_a_train_spec_are_refused():
    for max_steps in (0, -1):
        message = f"Must specify max_steps > 0, given: {max_steps}"
        assert spec_error(TrainSpec, max_steps=max_steps) == (ValueError, message)
    message = "All saving_listeners must be `CheckpointSaverListener` instances, given: no"
    assert spec_error(TrainSpec, saving_listeners=["no"]) == (TypeError, message)


@pytest.mark.parametrize(
    ("name", "value", "kind", "message"),
    [
        ("steps", 0, ValueError, "Must specify steps > 0, given: 0"),
        ("name", 1, TypeError, "`name` must be string, given: 1"),
        ("start_delay_secs", -1, ValueError, "Must specify start_delay_secs >= 0, given: -1"),
        ("throttle_secs", -1, ValueError, "Must specify throttle_secs >= 0, given: -1"),
    ],
)
def test_wrong_values_of_an_eval_spec_are_refused(name, value, kind, message):
    assert spec_error(EvalSpec, **{name: value}) == (kind, message)


@pytest.mark.parametrize("exporters", ["no", 5, [EXPORTER, None], [EXPORTER, "no"]])
def test_exporters_of_another_kind_are_refused(exporters):
    message = "`exporters` must be an Exporter, an iterable of Exporter, or `None`, found "
    assert spec_error(EvalSpec, exporters=exporters) == (TypeError, f"{message}{exporters}.")


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (
            [None],
            "An Exporter cannot have a name that is `None` or empty. All exporter names: [None]",
        ),
        (
            ["a", ""],
            "An Exporter cannot have a name that is `None` or empty. All exporter names: ['a', '']",
        ),
        ([b"a"], "An Exporter must have a string name. Given: <class 'bytes'>"),
        (
            ["a", "b", "a"],
            "`exporters` must have unique names. Such a name cannot be `None`. All exporter "
            "names: ['a', 'b', 'a']",
        ),
    ],
)
def test_names_of_exporters_are_texts_and_differ(names, message):
    exporters = [Named(name) for name in names]
    assert spec_error(EvalSpec, exporters=exporters) == (ValueError, message)
