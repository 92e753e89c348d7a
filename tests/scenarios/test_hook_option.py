"""`--hook` and `hooks:` from the command line and the file to the loop."""

import json

import pytest
import yaml

import forked
from source_plugins import install_source
from tf_frame.command_line.parsing import parse_command_line
from tf_frame.errors import ConfigError, PluginError

PLUGINS = """
import dataclasses
from tf_frame import HookPlugin, option


class Counter(HookPlugin):
    @dataclasses.dataclass(frozen=True)
    class Params:
        every_steps: int = option(2, "steps from one line to the next", min=1)
        word: str = option("step", "the word")

    def __call__(self, context):
        from tf_frame.hooks import Cadence, Hook

        params = self.params

        class Count(Hook):
            def __init__(self):
                super().__init__(Cadence(every_steps=params.every_steps, first=False))

            def after_step(self, run_context, run_values, step):
                steps = f"{params.word} {step} of {context.max_steps}"
                context.report(f"{steps} in {context.model_dir}")

        return Count()


class Nonsense(HookPlugin):
    def __call__(self, context):
        return "no hook"
"""


@pytest.fixture(autouse=True)
def installed(tmp_path, monkeypatch):
    """The plugins toy, counter and nonsense; the tests run in a fresh folder."""
    install_source(monkeypatch, tmp_path, "hook-test", PLUGINS, hooks="Counter Nonsense")


def make_setup(*argv):
    return parse_command_line(["--plugin", "toy", *argv]).setup()


def run_lines(*argv, **options):
    """Returns the lines that a run of the toy writes."""
    done = forked.succeed([*forked.TF_FRAME, "run", "--plugin", "toy", *argv], **options)
    return (done.stdout + done.stderr).splitlines()


def list_hooks(setup):
    return [(part.name, part.params.every_steps, part.params.word) for part in setup.hooks]


def test_a_hook_is_named_and_takes_options():
    assert list_hooks(make_setup()) == []
    assert list_hooks(make_setup("--hook", "counter")) == [("counter", 2, "step")]
    argv = ("--hook", "counter:7", "--hook.counter.word", "run")
    assert list_hooks(make_setup(*argv)) == [("counter", 7, "run")]


def test_several_hooks_of_one_name_have_options_of_their_own():
    argv = ("--hook", "counter:7", "--hook", "hook-test:counter", "--hook.counter.word", "one")
    hooks = [("counter", 7, "one"), ("hook-test:counter", 2, "step")]
    assert list_hooks(make_setup(*argv)) == hooks
    argv = ("--hook", "counter", "--hook", "counter:9", "--hook.counter_2.word", "two")
    assert list_hooks(make_setup(*argv)) == [("counter", 2, "step"), ("counter", 9, "two")]


def test_the_file_names_hooks_and_the_words_win(tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text(yaml.safe_dump({"hooks": [{"name": "counter", "word": "a"}, "counter:5"]}))
    hooks = [("counter", 2, "a"), ("counter", 5, "step")]
    assert list_hooks(make_setup("--config", str(file))) == hooks
    argv = ("--config", str(file), "--hook.counter.every_steps", "3")
    assert list_hooks(make_setup(*argv))[0] == ("counter", 3, "a")
    assert list_hooks(make_setup("--config", str(file), "--hook", "")) == []


def test_the_resolved_configuration_has_the_hooks():
    settings = make_setup("--hook", "counter:7").settings()
    assert [(named.name, dict(named.values)) for named in settings.hooks] == [
        ("counter", {"every_steps": 7, "word": "step"})
    ]
    assert settings.versions["hook-test"] == "3.2"


@pytest.mark.parametrize(
    ("argv", "error", "message"),
    [
        (["--hook", "countr"], PluginError, "countr"),
        (["--hook", "counter:0"], ConfigError, "hook.counter.every_steps"),
        (["--hook", "nonsense:1"], ConfigError, "--hook nonsense:1: nonsense has no options"),
        (["--hook", "counter", "--hook.counter.wrd", "a"], ConfigError, "hook.counter.word"),
        ("hook: {counter: {word: a}}", ConfigError, r"write a list, hooks: \[...\]"),
        ("hooks: {name: counter}", ConfigError, "'hooks' takes a list"),
        ("hooks: [{every_steps: 3}]", ConfigError, "a hook without a name"),
    ],
)
def test_a_wrong_hook_or_option_of_the_words_or_the_file_is_said(tmp_path, argv, error, message):
    if isinstance(argv, str):
        (tmp_path / "run.yaml").write_text(argv)
        argv = ["--config", "run.yaml"]
    with pytest.raises(error, match=message):
        make_setup(*argv)


@pytest.fixture
def environment(toy_environment, tmp_path):
    return {"env": {**toy_environment, "PYTHONPATH": str(tmp_path / "site")}, "cwd": tmp_path}


@pytest.mark.process
def test_a_hook_of_a_package_runs_at_its_steps(environment, tmp_path):
    argv = ("--model_dir", "m", "--max_steps", "5", "--train_batch_size", "8", "--hook", "counter")
    lines = run_lines(*argv, **environment)
    steps = [line for line in lines if " of 5 in " in line]
    assert steps == ["step 2 of 5 in m", "step 4 of 5 in m"]
    assert not [line for line in lines if "fast path" in line]
    config = yaml.safe_load((tmp_path / "m" / "config.yaml").read_text())
    assert config["hooks"] == [{"name": "counter", "every_steps": 2, "word": "step"}]
    assert json.loads((tmp_path / "m" / "result.json").read_text())["global_step"] == 5


@pytest.mark.slow
@pytest.mark.process
def test_the_hooks_of_a_run_are_shown_and_nothing_is_trained(environment, tmp_path):
    lines = run_lines("--show_hooks", "--hook", "counter", "--hook", "heartbeat", **environment)
    start = lines.index("hooks of a step, in this order:")
    names = [line.split()[1] for line in lines[start + 1 : -1]]
    assert names == [
        *("InputPositionHook", "NanGuardHook", "SummaryHook", "Count", "LoggingHook"),
        *("ThroughputHook", "HeartbeatHook", "ProgressHook", "StatusHook", "CheckpointHook"),
        *("StopAtStepHook", "StopOnSignalHook"),
    ]
    assert lines[-1].startswith("fast path: on")
    assert {path.name for path in tmp_path.iterdir()} == {"site"}
