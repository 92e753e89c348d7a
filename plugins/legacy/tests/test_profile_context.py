import logging
import threading

import pytest
import tensorflow as tf2
import tensorflow.compat.v1 as tf
from tensorflow.core.profiler.tfprof_log_pb2 import ProfileProto
from tensorflow.python.client.session import BaseSession

from tf_frame_legacy import profile_context
from tf_frame_legacy.profile_context import ProfileContext

ORIGINAL = BaseSession.run


@pytest.fixture(autouse=True)
def cleaned():
    yield
    assert BaseSession.run is ORIGINAL


@pytest.fixture
def fetches(graph):
    """Two tensors of a graph, each with operations of its own, and without variables."""
    first = tf.matmul(tf.random_uniform([30, 30]), tf.random_uniform([30, 30]))
    return [tf.reduce_sum(first), tf.tanh(tf.random_normal([4]))]


@pytest.fixture
def fetch(fetches):
    return fetches[0]


def runs(fetch, count, session=None):
    with session or tf.Session() as session:
        for _ in range(count):
            session.run(fetch)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_first_trace_comes_after_ten_runs_and_once_for_the_same_fetches(tmp_path, fetch):
    with ProfileContext(str(tmp_path), debug=True), tf.Session() as session:
        for _ in range(11):
            session.run(fetch)
        assert names(tmp_path) == []
        session.run(fetch)
        assert names(tmp_path) == ["run_meta_11"]
    assert (profile_context.WARMUP_STEPS, profile_context.MAX_TRACED_STEPS) == (10, 100)


def test_each_new_set_of_fetches_is_traced(tmp_path, fetches, monkeypatch):
    # Else some more runs would be traced, for little of the graph has been seen.
    monkeypatch.setattr(profile_context, "_ENOUGH_COVERAGE", 0.0)
    with ProfileContext(str(tmp_path), debug=True), tf.Session() as session:
        for _ in range(11):
            session.run(fetches[0])
        for fetch in (fetches[0], fetches[1], fetches, fetches[::-1], {"a": fetches[1]}):
            session.run(fetch)
    assert names(tmp_path) == ["run_meta_11", "run_meta_12", "run_meta_13"]


def test_while_little_was_seen_further_runs_are_traced_the_same_ones_each_time(tmp_path, fetch):
    all_names = []
    for folder in ("a", "b"):
        with ProfileContext(str(tmp_path / folder), debug=True, dump_steps=[]) as context:
            context.profiler._coverage = 0.0
            with tf.Session() as session:
                for _ in range(60):
                    session.run(fetch)
                    context.profiler._coverage = 0.0
        all_names.append(names(tmp_path / folder))
    assert all_names[0] == all_names[1]
    assert 3 < len(all_names[0]) < 30


def test_the_profile_is_written_at_step_100(tmp_path, fetch):
    with ProfileContext(str(tmp_path)):
        runs(fetch, 100)
        assert names(tmp_path) == []
    with ProfileContext(str(tmp_path)):
        runs(fetch, 101)
    assert names(tmp_path) == ["profile_100"]
    assert (tmp_path / "profile_100").stat().st_size > 100


def test_profiles_and_traces_are_written_at_the_chosen_steps_only(tmp_path, fetch):
    with ProfileContext(str(tmp_path), trace_steps=[1, 4], dump_steps=[3, 5], debug=True):
        runs(fetch, 30)
    assert names(tmp_path) == ["profile_3", "profile_5", "run_meta_1", "run_meta_4"]
    for name, steps in (("profile_3", [1]), ("profile_5", [1, 4])):
        profile = ProfileProto.FromString((tmp_path / name).read_bytes())
        assert list(profile.steps) == steps
        assert "MatMul" in {node.op for node in profile.nodes.values()}


def test_the_next_step_can_be_traced_and_written(tmp_path, fetch):
    context = ProfileContext(str(tmp_path), trace_steps=[], dump_steps=[], debug=True)
    with context, tf.Session() as session:
        session.run(fetch)
        context.trace_next_step()
        session.run(fetch)
        session.run(fetch)
        context.dump_next_step()
        session.run(fetch)
        session.run(fetch)
    assert names(tmp_path) == ["profile_3", "run_meta_1"]


OPTIONS = tf.profiler.ProfileOptionBuilder(
    tf.profiler.ProfileOptionBuilder.time_and_memory()
).with_empty_output()


@pytest.mark.parametrize("cmd", ["scope", "op", "graph", "code"])
def test_views_are_made_at_the_steps_that_are_given(tmp_path, fetch, cmd):
    with ProfileContext(str(tmp_path), trace_steps=[], dump_steps=[]) as context:
        context.add_auto_profiling(cmd, OPTIONS.build(), [2, 4])
        runs(fetch, 6)
    views = context.get_profiles(cmd)
    assert views.keys() == {2, 4}
    assert views[4].total_exec_micros > 0


def test_a_missing_or_unknown_view_is_an_error(tmp_path):
    context = ProfileContext(str(tmp_path))
    with pytest.raises(ValueError, match="^No autoprofiler for command: op, was run$"):
        context.get_profiles("op")
    with pytest.raises(ValueError, match="^Unknown cmd: ops\n$"):
        context.add_auto_profiling("ops", OPTIONS.build(), [1])


def test_what_a_caller_asks_of_a_run_it_gets(tmp_path, fetch):
    traced = tf.RunOptions(trace_level=tf.RunOptions.SOFTWARE_TRACE)
    plain = tf.RunOptions(timeout_in_ms=60000)
    with ProfileContext(str(tmp_path), trace_steps=[0, 1], dump_steps=[2]), tf.Session() as session:
        for options in (plain, None, traced):
            metadata = tf.RunMetadata()
            session.run(fetch, options=options, run_metadata=metadata)
            assert metadata.step_stats.dev_stats
    assert plain == tf.RunOptions(timeout_in_ms=60000)


def test_feeds_and_results_are_those_of_the_run(tmp_path, graph):
    number = tf.placeholder(tf.float32, [])
    with ProfileContext(str(tmp_path), trace_steps=[0]), tf.Session() as session:
        for _ in range(2):
            assert session.run({"a": number + 1}, {number: 2.0}) == {"a": 3.0}


def test_a_run_that_fails_is_counted_and_the_next_is_traced(tmp_path, graph):
    fails = tf.debugging.Assert(tf.constant(False), ["no"])
    works = tf.random_uniform([2])
    with ProfileContext(str(tmp_path), trace_steps=[1], debug=True), tf.Session() as session:
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(fails)
        session.run(works)
    assert names(tmp_path) == ["run_meta_1"]


@pytest.mark.parametrize("hooks", [[], [tf.train.StopAtStepHook(last_step=20)]])
def test_a_monitored_session_is_profiled_too(tmp_path, graph, hooks):
    moves = tf.assign_add(tf.train.create_global_step(), 1)
    context = ProfileContext(str(tmp_path), trace_steps=None if hooks else [5], debug=True)
    with context, tf.train.MonitoredTrainingSession(hooks=hooks) as session:
        for _ in range(20 if hooks else 9):
            session.run(moves)
    assert [name for name in names(tmp_path) if name.startswith("run_meta_")]
    assert hooks or names(tmp_path) == ["run_meta_5"]


def test_a_run_within_a_run_of_another_thread_is_counted_but_not_traced(tmp_path, graph):
    with ProfileContext(str(tmp_path), trace_steps=[0, 1, 2], debug=True), tf.Session() as session:
        inner = tf.random_uniform([2])

        def run_inner():
            thread = threading.Thread(target=session.run, args=[inner])
            thread.start()
            thread.join()
            return 1.0

        session.run(tf.numpy_function(run_inner, [], tf.double))
        session.run(inner)
    # The inner run ends first; what the outer one is called was settled at its beginning.
    assert names(tmp_path) == ["run_meta_0", "run_meta_2"]


def test_when_it_is_not_enabled_nothing_is_done(tmp_path, fetch):
    with ProfileContext(None, enabled=False) as context:
        assert BaseSession.run is ORIGINAL
        context.add_auto_profiling("op", OPTIONS.build(), [1])
        context.trace_next_step()
        context.dump_next_step()
        runs(fetch, 3)
        assert context.profiler is None
    assert names(tmp_path) == []


def test_one_within_another_is_an_error_and_harms_neither(tmp_path, fetch):
    with ProfileContext(str(tmp_path), trace_steps=[0], debug=True) as context:
        assert isinstance(context.profiler, tf.profiler.Profiler)
        assert context.profiler is context.profiler
        with pytest.raises(tf.errors.InternalError, match="Already in context or context not"):
            ProfileContext(str(tmp_path)).__enter__()
        runs(fetch, 1)
    assert names(tmp_path) == ["run_meta_0"]


def test_an_error_in_the_block_leaves_nothing_behind(tmp_path):
    with pytest.raises(KeyError), ProfileContext(str(tmp_path)):
        raise KeyError
    with ProfileContext(str(tmp_path)):
        assert BaseSession.run is not ORIGINAL


def test_a_missing_folder_and_more_than_100_steps_are_refused(tmp_path):
    for folder in (None, ""):
        with pytest.raises(ValueError, match="^Must have a directory for profile.\n$"):
            ProfileContext(folder)
    ProfileContext(str(tmp_path), trace_steps=range(100))
    with pytest.raises(ValueError, match="^Only support tracing up to 100 steps.\n$"):
        ProfileContext(str(tmp_path), trace_steps=range(101))


def test_another_profiler_does_not_fail_a_run(tmp_path, fetch):
    tf2.profiler.experimental.start(str(tmp_path / "other"))
    try:
        with ProfileContext(str(tmp_path), trace_steps=[1], debug=True):
            runs(fetch, 3)
    finally:
        tf2.profiler.experimental.stop(save=False)
    assert "run_meta_1" in names(tmp_path)


def test_a_folder_that_cannot_be_written_only_warns(tmp_path, fetch, caplog):
    (tmp_path / "file").touch()
    context = ProfileContext(str(tmp_path / "file"), trace_steps=[0], dump_steps=[0], debug=True)
    with caplog.at_level(logging.WARNING, "tf_frame"), context:
        runs(fetch, 2)
    assert len([m for m in caplog.messages if "training goes on" in m]) == 2
