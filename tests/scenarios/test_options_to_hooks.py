"""Run options arrive as arguments of the hooks, checked on the hooks that are made."""

import dataclasses

import pytest
import tensorflow.compat.v1 as tf

from slow_cases import slow_but
from tf_frame.cluster import Cluster
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.deploy.session_config import make_deployment
from tf_frame.errors import CheckpointError, PluginError
from tf_frame.graph.step_loop import StepLoop
from tf_frame.hooks.base import Hook, closing_all
from tf_frame.hooks.cadence import Cadence
from tf_frame.plugin import HookPlugin
from tf_frame.plugin.kinds import HOOK
from tf_frame.runs.setup.run_context import RunContext, RunObserver
from tf_frame.runs.training.build import build_graph, make_loop
from tf_frame.runs.training.hooks.make import make_hooks
from tf_frame.runs.training.parts import TrainingParts
from tf_frame.runs.training.show import show_hooks
from tf_frame.session.job_member import JobMember
from tf_frame.testing.toy import ToyInput, ToyModel, configured_plugin, make_setup, run_setup

CLUSTER = {"master": "grpc://localhost:1", "worker_replicas": 2, "num_ps_tasks": 1}


@pytest.fixture
def toy_setup(tmp_path):
    """Makes a training setup of the toy in `tmp_path`; `hooks` are plugin classes."""

    def toy_setup(*hooks, **options):
        parts = [configured_plugin(HOOK, cls.__name__, cls, {}, "hook") for cls in hooks]
        setup = make_setup(ToyModel, ToyInput, str(tmp_path), **options)
        return dataclasses.replace(setup, hooks=parts)

    yield toy_setup
    tf.summary.FileWriterCache.clear()


@pytest.fixture
def hooks_by_name(toy_setup):
    """The hooks of a worker by the names of their classes, without a session."""

    def hooks_by_name(*hooks, task=0, **options):
        setup = toy_setup(*hooks, **options)
        if options.get("master"):
            setup = dataclasses.replace(setup, config=dataclasses.replace(setup.config, task=task))
        graph = make_graph(setup)
        with graph.graph.as_default():
            hooks, _ = make_hooks(make_parts(setup, graph, task))
        return {type(hook).__name__: hook for hook in hooks}

    return hooks_by_name


def make_parts(setup, graph, task=0):
    cluster = Cluster(task_id=task)
    return TrainingParts(
        setup=setup,
        context=RunContext(
            observer=RunObserver(print, shows_progress=True),
            cluster=cluster,
            evaluate_step=lambda step: {},
        ),
        source=setup.make_input(),
        deployment=DeploymentConfig(),
        graph=graph,
        member=JobMember(cluster=cluster),
    )


def make_graph(setup):
    config = dataclasses.replace(
        setup.config, master="", worker_replicas=1, num_ps_tasks=0, task=0
    )  # A graph needs no server.
    source = setup.make_input()
    return build_graph(
        dataclasses.replace(setup, config=config),
        model=setup.make_model(source.info),
        source=source,
        deployment=make_deployment(config, Cluster()),
    )


def run_lines(setup):
    lines = []
    result = run_setup(setup, report=lines.append)
    return result, "\n".join(map(str, lines))


PROFILE = {"profile_at_step": (5,), **CLUSTER}


def test_only_the_chief_profiles_unless_all_are_to(hooks_by_name):
    assert "ProfileHook" in hooks_by_name(**PROFILE)
    assert "ProfileHook" not in hooks_by_name(task=1, **PROFILE)
    assert "ProfileHook" in hooks_by_name(task=1, profile_all_workers=True, **PROFILE)
    assert "ProfileHook" not in hooks_by_name(profile_all_workers=True)


@pytest.fixture
def keep_arguments(monkeypatch):
    """Replaces a class of hooks by a class that records its arguments; returns the arguments."""

    def keep_arguments(name):
        arguments = {}

        class Keeps(Hook):
            def __init__(self, model_dir, *args, **options):
                super().__init__()
                arguments.update(options, model_dir=model_dir)

        monkeypatch.setattr(f"tf_frame.runs.training.hooks.{name}", Keeps)
        return arguments

    return keep_arguments


def test_a_worker_that_profiles_has_its_own_folder(hooks_by_name, tmp_path, keep_arguments):
    arguments = keep_arguments("profiles.ProfileHook")
    hooks_by_name(task=1, profile_all_workers=True, profile_num_steps=3, **PROFILE)
    arguments.pop("tell")  # It has an effect only on the chief of a job.
    assert arguments.pop("recorder") is not None and callable(arguments.pop("report"))
    assert arguments == {
        "model_dir": str(tmp_path),
        "at_steps": (5,),
        "num_steps": 3,
        "every_steps": None,
        "task": "worker_1",
        "is_chief": False,
        "began": None,
        "keep": None,
    }


CHIEFS_OWN = {
    *("CheckpointHook", "EvaluateHook", "LoggingHook"),
    *("SummaryHook", "ThroughputHook", "TimelineHook"),
}


def test_what_only_one_worker_does_is_left_to_the_chief(hooks_by_name):
    options = {"trace_every_n_steps": 5, "eval_every_n_steps": 5, **CLUSTER}
    assert set(hooks_by_name(**options)) >= CHIEFS_OWN
    assert not set(hooks_by_name(task=1, **options)) & CHIEFS_OWN


@pytest.mark.parametrize("task", [0, 1])
def test_hooks_for_the_chief_are_for_no_other_worker(toy_setup, task):
    setup, mine = toy_setup(), object()
    graph = dataclasses.replace(make_graph(setup), chief_hooks=[mine])
    with graph.graph.as_default():
        hooks, _ = make_hooks(make_parts(setup, graph, task))
    assert (mine in hooks) == (task == 0)


TIMELINE, CHECKPOINT = "logs.TimelineHook", "checkpoints.CheckpointHook"


@pytest.mark.parametrize(
    ("hook", "options", "expected"),
    slow_but(
        (0, 1, -1),
        [
            (
                TIMELINE,
                {"trace_every_n_steps": 7},
                {"memory": False, "every_steps": 7, "at_steps": ()},
            ),
            (
                TIMELINE,
                {"trace_at_step": (60, 90), "trace_memory": True},
                {"memory": True, "every_steps": None, "at_steps": (60, 90)},
            ),
            (CHECKPOINT, {}, {"every_secs": 600, "every_steps": None, "keep_every_n_hours": None}),
            (CHECKPOINT, {"save_checkpoint_secs": 7}, {"every_secs": 7, "every_steps": None}),
            (CHECKPOINT, {"save_checkpoint_steps": 7}, {"every_secs": None, "every_steps": 7}),
            (CHECKPOINT, {"keep_checkpoint_every_n_hours": 2.5}, {"keep_every_n_hours": 2.5}),
            (CHECKPOINT, {"max_to_keep": 9}, {"max_to_keep": 9}),
            (CHECKPOINT, {"async_checkpoint": True}, {"asynchronous": True}),
        ],
        several=True,
    ),
)
def test_options_are_arguments_of_hooks(hooks_by_name, keep_arguments, hook, options, expected):
    arguments = keep_arguments(hook)
    hooks_by_name(**options)
    assert {name: arguments[name] for name in expected} == expected


def test_without_a_log_there_are_no_figures(hooks_by_name):
    assert not {"LoggingHook", "ThroughputHook"} & set(hooks_by_name(log_every_n_steps=0))


def test_an_evaluation_waits_for_the_checkpoint_that_is_being_written(toy_setup, monkeypatch):
    waited = []
    hook = "tf_frame.runs.training.hooks.checkpoints.CheckpointHook.wait"
    monkeypatch.setattr(
        hook, lambda self: waited.append(self._pending is not None) or self._finish_save()
    )
    options = {"async_checkpoint": True, "eval_every_n_steps": 2, "save_checkpoint_secs": 600}
    _, output = run_lines(toy_setup(max_steps=5, evaluate=False, **options))
    assert waited == [True, True]
    assert "evaluation at step 2" in output and "evaluation at step 4" in output


def test_a_step_that_diverged_is_not_evaluated(toy_setup):
    options = {"on_nan": "stop", "eval_every_n_steps": 3, "values": {"model.nan_at_step": 5}}
    _, output = run_lines(toy_setup(max_steps=9, **options))
    assert "training was stopped at step 6 of 9" in output
    assert "evaluation at step 3" in output
    assert "evaluation at step 6" not in output


def test_a_named_hook_is_told_of_the_run(toy_setup, tmp_path):
    contexts = []

    class Told(HookPlugin):
        def __call__(self, context):
            contexts.append(context)
            return []

    run_lines(toy_setup(Told, max_steps=3, train_batch_size=4, evaluate=False))
    (context,) = contexts
    assert context.model_dir == str(tmp_path)
    assert (context.is_chief, context.task, context.max_steps) == (True, 0, 3)
    assert context.examples_per_step == 4
    assert context.graph.train_op.op.name == "train_op"
    assert callable(context.report)


def test_named_hooks_and_listeners_come_to_their_places(toy_setup):
    seen = []

    class Every(Hook):
        def after_step(self, run_context, run_values, step):
            seen.append(("hook", step))

    class Saved(tf.train.CheckpointSaverListener):
        def after_save(self, session, global_step_value):
            seen.append(("saved", global_step_value))

    class Both(HookPlugin):
        def __call__(self, context):
            return [Every(Cadence(at_steps=[2])), Saved()]

    run_lines(toy_setup(Both, max_steps=4, save_checkpoint_steps=2, evaluate=False))
    assert seen == [("saved", 0), ("hook", 2), ("saved", 2), ("saved", 4)]


def test_a_plugin_that_makes_no_hook_is_refused(toy_setup):
    class Nonsense(HookPlugin):
        def __call__(self, context):
            return ["no hook"]

    with pytest.raises(
        PluginError,
        match="the hook 'Nonsense' of tests 0 returned 'no hook' of type str; it must return",
    ):
        run_lines(toy_setup(Nonsense, max_steps=1))


def test_every_hook_that_can_be_closed_is_closed_after_an_error_too():
    closed = []

    class Closes(Hook):
        def __init__(self, name, error=None):
            super().__init__()
            self.name, self.error = name, error

        def close(self):
            closed.append(self.name)
            if self.error is not None:
                raise self.error

    hooks = [Closes("a"), Hook(), Closes("b", CheckpointError("not written")), Closes("c")]
    with pytest.raises(CheckpointError, match="not written"), closing_all(hooks):
        raise ValueError("a defect")
    assert sorted(closed) == ["a", "b", "c"]


def test_steps_of_several_tasks_are_run_singly(toy_setup, capsys):
    setup = toy_setup(steps_per_loop=10, **CLUSTER)
    graph = make_graph(setup)
    with graph.graph.as_default():
        loop = make_loop(make_parts(setup, graph), [])
    assert loop.step_loop is None
    assert capsys.readouterr().out.splitlines() == [
        "note: --steps_per_loop 10 has no effect: several tasks train together"
    ]


@pytest.mark.slow
def test_a_hook_that_keeps_the_fast_path_off_is_said_at_the_start(toy_setup):
    class Foreign(tf.train.SessionRunHook):
        def after_run(self, run_context, run_values):
            pass

    class Slow(HookPlugin):
        def __call__(self, context):
            return Foreign()

    _, output = run_lines(toy_setup(Slow, max_steps=2, evaluate=False))
    assert f"note: fast path: off, for Foreign ({__name__}) is called at every step" in output
    _, output = run_lines(toy_setup(max_steps=4, evaluate=False))
    assert "fast path" not in output


def test_the_hooks_are_shown_and_the_folder_stays_as_it_was(toy_setup, tmp_path):
    output = []
    setup = toy_setup(trace_every_n_steps=7, max_steps=40)
    show_hooks(setup, setup.make_input(), report=output.append)
    lines = "\n".join(output).splitlines()
    assert lines[0] == "hooks of a step, in this order:"
    assert [line.split()[0] for line in lines[1:-1]] == sorted(
        (line.split()[0] for line in lines[1:-1]),
        key=["transform", "check", "observe", "log", "save", "evaluate", "stop"].index,
    )
    assert any(line.split()[1] == "TimelineHook" and "every 7 steps" in line for line in lines[1:])
    assert any(line.split()[1] == "StopAtStepHook" and "steps 40" in line for line in lines[1:])
    assert list(tmp_path.iterdir()) == []


def test_steps_per_loop_says_how_many_steps_one_call_runs(toy_setup, monkeypatch):
    counts, prepare = [], StepLoop.prepare

    def noted(self, session):
        run = prepare(self, session)

        def counted(count):
            counts.append(min(count, self.steps))
            return run(count)

        return counted

    monkeypatch.setattr(StepLoop, "prepare", noted)
    options = {"save_summaries_steps": 0, "log_every_n_steps": 10, "evaluate": False}
    run_lines(toy_setup(max_steps=22, steps_per_loop=4, **options))
    # Hooks want 1, 10, 20 and 22.
    assert counts == [4, 4, 4, 4]
    counts.clear()
    run_lines(toy_setup(max_steps=44, **options))
    assert counts == []
