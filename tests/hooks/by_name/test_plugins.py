"""The hooks that `--hook NAME` chooses: their options, and what is made of them."""

import dataclasses
import importlib
import logging
import re
import subprocess
import sys
from pathlib import Path

import pytest
import tensorflow.compat.v1 as tf

from slow_cases import slow_but
from tf_frame import HookContext
from tf_frame.config.option import declared_options, resolve
from tf_frame.errors import ConfigError
from tf_frame.hooks.by_name import plugins as named
from tf_frame.hooks.by_name.feed import tensor_by_name
from tf_frame.plugin.find import find_plugins
from tf_frame.plugin.kinds import HOOK, check_contract

PLUGINS = {
    info.name: getattr(named, info.target.partition(":")[2])
    for info in find_plugins()
    if info.kind == HOOK and info.target.startswith("tf_frame.hooks.by_name.plugins:")
}
NAMES = sorted(PLUGINS)


def made(name, values):
    """The plugin with options as the command line gives them."""
    cls = PLUGINS[name]
    return cls(params=resolve(cls.Params, [values]))


@pytest.fixture
def context(tmp_path):
    def context(task=0, graph=None):
        return HookContext(
            model_dir=str(tmp_path),
            is_chief=task == 0,
            task=task,
            max_steps=5,
            examples_per_step=8,
            graph=graph,
            report=print,
        )

    return context


class Made:
    """Stands in for a hook, or for a function that makes one; has what it was made with."""

    def __init__(self, *args, **more):
        self.args, self.more = args, more


@pytest.mark.parametrize("name", NAMES)
def test_each_keeps_the_contract_and_explains_its_options(name):
    assert check_contract(PLUGINS[name], HOOK) == ""
    options = declared_options(PLUGINS[name].Params)
    assert options
    assert all(len(option.help) > 10 for option in options)
    assert f"--hook {name}" in named.__doc__


@pytest.mark.process
def test_none_of_them_imports_tensorflow():
    code = "import sys, tf_frame.hooks.by_name.plugins; sys.exit('tensorflow' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Name, options, class or function in `hooks.by_name`, and its arguments.
CASES = [
    ("heartbeat", {}, "HeartbeatHook", ["DIR"], {"every_secs": 60.0, "task": 0}),
    ("heartbeat", {"every_secs": "5"}, "HeartbeatHook", ["DIR"], {"every_secs": 5.0, "task": 0}),
    (
        "garbage_collection",
        {"every_steps": 50, "freeze_after_steps": 3},
        "GarbageCollectionHook",
        [],
        {"every_steps": 50, "freeze_after_steps": 3},
    ),
    (
        "slow_step",
        {"times": 3, "floor_secs": 0.5, "pause_secs": 7, "profile_steps": 2},
        "SlowStepHook",
        ["DIR"],
        {"times": 3.0, "floor_secs": 0.5, "pause_secs": 7.0, "profile_steps": 2, "task": 0},
    ),
    (
        "feed",
        {"values": ["keep:0=0.5", "size=[1, 2]", "word=a=b"]},
        "FeedHook",
        [{"keep:0": "0.5", "size": "[1, 2]", "word": "a=b"}],
        {},
    ),
    ("final_values", {"tensors": "a:0,b"}, "FinalValuesHook", [("a:0", "b")], {}),
]
EVERY_MINUTE = {"min_steps": 0, "run_every_secs": 60.0, "run_every_steps": None}
STOPS = [
    (
        {"metric": "acc", "threshold": 0.5, "min_steps": 3, "every_secs": 9},
        "stop_if_higher",
        ["acc", 0.5],
        {"min_steps": 3, "run_every_secs": 9.0, "run_every_steps": None},
    ),
    (
        {"threshold": 0, "every_steps": 10},
        "stop_if_lower",
        ["loss", 0.0],
        {"min_steps": 0, "run_every_secs": None, "run_every_steps": 10},
    ),
    ({"threshold": 9, "mode": "max"}, "stop_if_higher", ["loss", 9.0], EVERY_MINUTE),
    (
        {"metric": "mean_iou"},
        "stop_if_not_better",
        ["mean_iou", 3],
        {"higher": True, **EVERY_MINUTE},
    ),
    (
        {"metric": "wer", "mode": "min", "patience": 7},
        "stop_if_not_better",
        ["wer", 7],
        {"higher": False, **EVERY_MINUTE},
    ),
]
CASES += [
    (
        "early_stopping",
        values,
        function,
        [*args, "DIR/eval"],
        {**more, "multiples_of": None, "report": print},
    )
    for values, function, args, more in STOPS
]


@pytest.mark.parametrize(("name", "values", "target", "args", "more"), CASES)
def test_options_become_what_the_hook_takes(
    tmp_path, context, monkeypatch, name, values, target, args, more
):
    monkeypatch.setattr(f"tf_frame.hooks.by_name.{name}.{target}", Made)
    hook = made(name, values)(context())
    args = [a.replace("DIR", str(tmp_path)) if isinstance(a, str) else a for a in args]
    paths = [a.rstrip("/") if isinstance(a, str) else a for a in hook.args]
    assert (paths, hook.more) == (args, more)


def test_resources_are_written_by_the_chief_alone(tmp_path, context, build, monkeypatch):
    monkeypatch.setattr("tf_frame.hooks.by_name.resource_use.ResourceUseHook", Made)
    plugin = made("resource_use", {"every_steps": 7, "every_secs": 30, "growth": 0.5})
    graph = build()
    more = plugin(context(1, graph)).more
    assert more == {"every_steps": 7, "every_secs": 30.0, "growth": 0.5, "writer": None}
    by_secs = made("resource_use", {"every_steps": "none", "every_secs": 3})(context(1, graph))
    assert by_secs.more["every_steps"] is None
    chief = context(graph=graph)
    writer = plugin(chief).more["writer"]
    with chief.graph.graph.as_default():
        assert writer is tf.summary.FileWriterCache.get(str(tmp_path))


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({}, {"every_n_iter": 100, "every_n_secs": None, "at_end": False}),
        ({"every_steps": 5}, {"every_n_iter": 5, "every_n_secs": None, "at_end": False}),
        ({"every_secs": 5}, {"every_n_iter": None, "every_n_secs": 5.0, "at_end": False}),
        ({"at_end": True}, {"every_n_iter": None, "every_n_secs": None, "at_end": True}),
        (
            {"at_end": True, "every_steps": 3},
            {"every_n_iter": 3, "every_n_secs": None, "at_end": True},
        ),
    ],
)
def test_tensors_are_logged_by_steps_or_seconds(context, build, monkeypatch, values, expected):
    monkeypatch.setattr("tf_frame.hooks.stock.logging_tensor.LoggingTensorHook", Made)
    chief = context(graph=build())
    hook = made("logging_tensor", {"tensors": "train_op:0,learning_rate", **values})(chief)
    graph = chief.graph.graph
    names = ["train_op:0", "learning_rate"]
    assert list(hook.args[0]) == names
    assert [hook.args[0][name] for name in names] == [tensor_by_name(graph, n) for n in names]
    assert hook.more.pop("formatter")({"a": 1.5, "b": 2}) == "a = 1.5, b = 2"
    assert hook.more == expected


WRONG = [
    (
        "early_stopping",
        {"metric": "wer"},
        "'wer' does not say whether its largest or its smallest value is the best; correct "
        "the name, or give --hook.early_stopping.mode max or --hook.early_stopping.mode min",
    ),
    (
        "early_stopping",
        {"patience": 5, "threshold": 1},
        "early_stopping: give either patience or threshold",
    ),
    ("early_stopping", {"patience": 0}, "patience: 0 is out of range; allowed: 1 or more"),
    ("early_stopping", {"every_secs": 0}, "every_secs: 0.0 is out of range"),
    ("early_stopping", {"mode": "best"}, "'best' is not known; allowed: max, min"),
    ("feed", {}, "feed: nothing to feed; give values, such as keep_prob:0=0.5"),
    ("feed", {"values": ["keep"]}, "feed: 'keep' is not TENSOR=VALUE"),
    ("feed", {"values": ["=3"]}, "feed: '=3' is not TENSOR=VALUE"),
    ("feed", {"values": ["a=1", "a=2"]}, "feed: 'a' is given twice"),
    ("final_values", {}, "final_values: name at least one tensor or variable"),
    ("garbage_collection", {"every_steps": 0}, "0 is out of range; allowed: 1 or more"),
    ("garbage_collection", {"freeze_after_steps": 0}, "0 is out of range; allowed: 1 or more"),
    ("heartbeat", {"every_secs": 0}, "every_secs: 0.0 is out of range"),
    ("logging_tensor", {}, "logging_tensor: name at least one tensor, such as loss:0"),
    (
        "logging_tensor",
        {"tensors": "a", "every_steps": 1, "every_secs": 1},
        "logging_tensor: give either every_steps or every_secs",
    ),
    ("logging_tensor", {"tensors": "a", "every_secs": 0}, "every_secs: 0.0 is out of range"),
    ("resource_use", {"every_steps": "none"}, "resource_use: give every_steps or every_secs"),
    ("resource_use", {"every_secs": 0}, "every_secs: 0.0 is out of range"),
    ("resource_use", {"growth": 0}, "growth: 0.0 is out of range"),
    ("slow_step", {"times": 1}, "times: 1.0 is out of range; allowed: 1.1 or more"),
    ("slow_step", {"floor_secs": 0}, "floor_secs: 0.0 is out of range"),
]


@pytest.mark.parametrize(("name", "values", "message"), WRONG)
def test_options_that_cannot_work_are_refused_before_there_is_a_graph(name, values, message):
    with pytest.raises(ConfigError, match=re.escape(message)):
        made(name, values)


REAL = {
    "early_stopping": {"patience": 5},
    "feed": {"values": ["learning_rate=0.5"]},
    "final_values": {"tensors": "linear/weights"},
    "garbage_collection": {"freeze_after_steps": 1},
    "heartbeat": {},
    "logging_tensor": {"tensors": "learning_rate"},
    "resource_use": {},
    "slow_step": {},
}


def test_every_plugin_is_in_a_run():
    assert REAL.keys() == PLUGINS.keys()


@pytest.mark.parametrize("name", slow_but((0, -1), REAL))
def test_a_run_goes_through_with_the_hook(context, build, train, name, caplog):
    caplog.set_level(logging.INFO)
    chief = context(graph=build())
    with chief.graph.graph.as_default():
        hook = made(name, REAL[name])(chief)
    assert train(chief.graph, [hook], to=3) == 3
    assert isinstance(hook, tf.train.SessionRunHook)
    told = {
        "final_values": "after training: linear/weights = ",
        "logging_tensor": "learning_rate = 0.05",
        "resource_use": "step 1: ",
    }
    lines = "\n".join(record.getMessage() for record in caplog.records if record.name == "tf_frame")
    assert told.get(name, "") in lines


def test_a_variable_is_logged_by_its_value_and_not_by_its_handle(context, build, train, caplog):
    caplog.set_level(logging.INFO)
    chief = context(graph=build())
    with chief.graph.graph.as_default():
        hook = made("logging_tensor", {"tensors": "linear/biases,linear/biases:0"})(chief)
    train(chief.graph, [hook], to=1)
    # TensorFlow's own log, where another test has put it on, has the line as well.
    ours = [r.getMessage() for r in caplog.records if r.name == "tf_frame"]
    (line,) = (line for line in ours if "linear/biases" in line)
    assert re.fullmatch(r"linear/biases = \[[\d.]+\], linear/biases:0 = \[[\d.]+\]", line)


def test_the_hook_of_the_documentation_works(tmp_path, monkeypatch, build, train, context):
    docs = (Path(__file__).parents[3] / "docs" / "hooks" / "write.md").read_text()
    sources = re.findall(r"```python\n# (my_hooks\w*\.py)\n(.*?)```", docs, re.DOTALL)
    assert len(sources) == 2
    for name, source in sources:
        (tmp_path / name).write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    cls = importlib.import_module("my_hooks").LargeLoss
    assert check_contract(cls, HOOK) == ""
    said = []
    graph = build()
    hook = cls(params=cls.Params(above=0.1, every_steps=2))(
        dataclasses.replace(context(graph=graph), report=said.append)
    )
    train(graph, [hook], to=4)
    assert [line.split(" is ")[0] for line in said] == [f"the loss at step {s}" for s in (1, 3)]


def test_early_stopping_looks_after_each_evaluation_and_says_if_there_are_none(context):
    params = {"metric": "loss", "patience": 100}
    said = []
    plain = made("early_stopping", params)(dataclasses.replace(context(), report=said.append))
    assert "--eval_every_n_steps" in said.pop()
    assert plain.cadence.next_step() == 1
    evaluated = dataclasses.replace(context(), report=said.append, eval_every_n_steps=40)
    hook = made("early_stopping", params)(evaluated)
    assert said == []
    hook.cadence.mark(1)
    assert hook.cadence.next_step() == 40
