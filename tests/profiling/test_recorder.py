"""The recorder: steps with spans, operations and memory, as a report reads them."""

import time

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.profiling.process_profiler import CaptureError
from tf_frame.profiling.recorder import Facts, Recorder, hook_kind
from tf_frame.profiling.run_metadata import run_options
from tf_frame.profiling.step_profile import Cost, HookCost, read, to_bytes
from tf_frame.profiling.step_times import StepTimes


class SummarySaverHook:
    """Stands for a hook that writes in another thread."""

    asynchronous = True
    option = "--save_summaries_steps"


@pytest.fixture
def record(small_graph):
    """Records some steps of a small graph with one hook; returns the profile."""
    session, train_op, _ = small_graph

    def record(steps, **facts):
        times, hook = StepTimes(), SummarySaverHook()
        recorder = Recorder(times, Facts("worker_0", **facts))
        recorder.start(lambda *end: None)
        for step in range(1, steps + 1):
            began, metadata = time.monotonic(), tf.RunMetadata()
            session.run(train_op, options=run_options(), run_metadata=metadata)
            middle = times.session_call(began, time.monotonic())
            ended = times.hook(hook, middle, time.monotonic(), ends=True)
            recorder.add(metadata)
            recorder.end_step(step, ended)
            times.step(ended)
        return recorder.stop()

    return record


def test_the_first_step_is_left_out_and_without_steps_there_is_no_profile(record):
    profile = record(4)
    assert [step.number for step in profile.steps] == [2, 3, 4]
    assert [step.number for step in record(1).steps] == [1]
    recorder = Recorder(StepTimes(), Facts("worker_0"))
    recorder.start(lambda *end: None)
    assert recorder.stop() is None


def test_steps_follow_each_other_and_hold_their_spans_and_operations(record):
    profile = record(3)
    first, second = profile.steps
    assert first.end == second.begin
    for step in profile.steps:
        assert [(span.kind, span.name) for span in step.spans] == [
            ("session", ""),
            ("hook", "ProfileHook"),  # Run metadata are handed over at the end of the call.
            ("summary", "SummarySaverHook"),
        ]
        session = step.spans[0]
        assert session.end == max(op.end for op in step.ops)
        types = {profile.nodes[op.node].type for op in step.ops}
        assert "RandomUniform" in types
        assert all(session.begin <= op.begin <= op.end <= session.end for op in step.ops)
        assert all(memory.peak > 0 for memory in step.memory)


def test_a_profile_is_read_back_as_it_was_written(record, tmp_path):
    costs = [Cost("", 400, 12)]
    profile = record(3, examples_per_step=50, clone_scopes=("clone_0",), costs=lambda: costs)
    path = tmp_path / "a.steps.json.gz"
    path.write_bytes(to_bytes(profile))
    found = read(str(path))
    assert found.steps[0].ops == profile.steps[0].ops and found.nodes == profile.nodes
    assert found.costs == costs and found.examples_per_step == 50
    (hook,) = found.hooks
    assert isinstance(hook, HookCost) and (hook.name, hook.calls) == ("SummarySaverHook", 3)
    assert hook.asynchronous and hook.option == "--save_summaries_steps"


def test_one_recorder_at_a_time_and_kinds_of_hooks():
    times = StepTimes()
    first, second = Recorder(times, Facts("worker_0")), Recorder(times, Facts("worker_0"))
    first.start(lambda *end: None)
    with pytest.raises(CaptureError, match="another profile of this training"):
        second.start(lambda *end: None)
    first.stop()
    second.start(lambda *end: None)

    class AgreedCheckpointHook:
        pass

    kinds = [hook_kind(hook()) for hook in (AgreedCheckpointHook, SummarySaverHook, StepTimes)]
    assert kinds == ["checkpoint", "summary", "hook"]
