"""New checkpoints as they come, by a clock that only these tests move."""

import inspect
import logging

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import checkpoints_iterator, wait_for_new_checkpoint


class Time:
    """A clock that stands but for sleep; something happens at its hours."""

    def __init__(self):
        self.now, self.events, self.slept = 100.0, {}, []

    def monotonic(self):
        return self.now

    def sleep(self, secs):
        assert secs > 0
        self.slept.append(secs)
        self.now += secs
        for hour in sorted(hour for hour in self.events if hour <= self.now):
            self.events.pop(hour)()

    def at(self, secs, event):
        self.events[100.0 + secs] = event

    @property
    def passed(self):
        return self.now - 100.0


@pytest.fixture
def time(monkeypatch):
    time = Time()
    monkeypatch.setattr("tf_frame.checkpoint.find.newest.time", time)
    return time


@pytest.fixture
def training(tmp_path):
    """Saves checkpoints of a run that keeps three."""
    with tf.Graph().as_default(), tf.Session() as session:
        step = tf.train.create_global_step()
        tf.get_variable("w", [16], initializer=tf.ones_initializer())
        saver = tf.train.Saver(max_to_keep=3)
        session.run(tf.global_variables_initializer())

        def save(number):
            session.run(step.assign(number))
            return saver.save(session, str(tmp_path / "model.ckpt"), global_step=number)

        yield save


def test_the_first_arguments_are_those_of_tensorflow():
    names = list(inspect.signature(tf.train.checkpoints_iterator).parameters)
    assert list(inspect.signature(checkpoints_iterator).parameters)[: len(names)] == names


def test_it_looks_every_second_or_as_often_as_asked(training, tmp_path, time):
    time.at(3, lambda: training(1))
    assert wait_for_new_checkpoint(str(tmp_path)).endswith("model.ckpt-1")
    assert time.slept == [1, 1, 1]
    time.at(8, lambda: training(2))
    last = str(tmp_path / "model.ckpt-1")
    found = wait_for_new_checkpoint(str(tmp_path), last, seconds_to_sleep=5)
    assert found.endswith("model.ckpt-2")
    assert time.slept[3:] == [5]


def test_a_folder_that_is_not_there_yet_is_waited_for(tmp_path, time):
    folder = str(tmp_path / "later")
    assert wait_for_new_checkpoint(folder, timeout=2) is None
    assert time.passed == 2


@pytest.mark.parametrize("timeout, looks", [(0, 0), (0.5, 0), (1, 1), (2.9, 2)])
def test_it_does_not_wait_longer_than_the_timeout(training, tmp_path, time, timeout, looks):
    last = training(1)
    assert wait_for_new_checkpoint(str(tmp_path), last, 1, timeout) is None
    assert len(time.slept) == looks


def test_it_ends_as_soon_as_it_is_to_stop(training, tmp_path, time):
    found = wait_for_new_checkpoint(str(tmp_path), stop=lambda: time.passed >= 4)
    assert (found, time.passed) == (None, 4)
    path = training(1)
    # A checkpoint that is there needs no waiting.
    assert (wait_for_new_checkpoint(str(tmp_path)), time.passed) == (path, 4)
    assert wait_for_new_checkpoint(str(tmp_path), stop=lambda: True) is None


def test_the_newest_of_several_is_the_new_one_and_one_before_the_last_one_is_not(
    training, tmp_path, time
):
    paths = [training(number) for number in (1, 2, 3)]
    assert wait_for_new_checkpoint(str(tmp_path), paths[0]) == paths[2]
    assert wait_for_new_checkpoint(str(tmp_path), paths[2], timeout=0) is None


def test_a_damaged_one_is_passed_over_with_one_line_of_log(
    training, corrupt, tmp_path, time, caplog
):
    first, second, third = (training(number) for number in (1, 2, 3))
    corrupt(third)
    assert wait_for_new_checkpoint(str(tmp_path), first) == second
    caplog.clear()
    with caplog.at_level(logging.WARNING, "tf_frame"):
        assert wait_for_new_checkpoint(str(tmp_path), second, timeout=5) is None
    assert time.passed == 5
    (line,) = [record.message for record in caplog.records]
    assert line.startswith(f"passing over a damaged checkpoint: {third}: ")


def test_where_all_that_are_listed_are_damaged_others_count(training, corrupt, tmp_path, time):
    first, second = training(1), training(2)
    tf.train.update_checkpoint_state(str(tmp_path), second)
    corrupt(second)
    assert wait_for_new_checkpoint(str(tmp_path)) == first


def test_one_that_is_deleted_while_it_is_looked_at_is_passed_over(
    training, tmp_path, time, monkeypatch
):
    first, second = training(1), training(2)

    def gone(path):
        if path == second:
            raise tf.errors.NotFoundError(None, None, "gone")
        return ""

    monkeypatch.setattr("tf_frame.checkpoint.find.newest.find_damage", gone)
    assert wait_for_new_checkpoint(str(tmp_path)) == first


def test_each_new_checkpoint_comes_once_until_the_time_is_up(training, tmp_path, time):
    training(1)
    time.at(5, lambda: training(2))
    time.at(9, lambda: training(3))
    found = [
        (path.rpartition("-")[2], time.passed)
        for path in checkpoints_iterator(str(tmp_path), timeout=6)
    ]
    assert found == [("1", 0), ("2", 5), ("3", 9)]
    assert time.passed == 15


def test_one_that_the_checkpoint_file_lists_last_again_does_not_come_again(
    training, tmp_path, time
):
    paths = [training(1)]
    found = []
    for path in checkpoints_iterator(str(tmp_path), timeout=3):
        found.append(path)
        if len(found) == 1:
            paths.append(training(2))
        if len(found) == 2:  # As by a run that was resumed from the older one.
            tf.train.update_checkpoint_state(str(tmp_path), paths[0], [paths[1], paths[0]])
    assert found == paths


def test_those_that_come_meanwhile_are_left_out(training, tmp_path, time):
    training(1)
    found = []
    for path in checkpoints_iterator(str(tmp_path), timeout=1):
        found.append(path.rpartition("-")[2])
        if len(found) == 1:
            training(2)
            training(3)
    assert found == ["1", "3"]


def test_there_are_so_many_seconds_at_least_between_two(training, tmp_path, time):
    training(1)
    found = []
    for path in checkpoints_iterator(str(tmp_path), min_interval_secs=60, timeout=0):
        found.append((path.rpartition("-")[2], time.passed))
        training(len(found) + 1)
        time.now += 20 if len(found) == 1 else 80  # The work of the caller.
        if len(found) == 3:
            break
    assert found == [("1", 0), ("2", 60), ("3", 140)]


def test_a_stop_is_noticed_between_two_looks_and_in_the_interval(training, tmp_path, time):
    training(1)
    iterator = checkpoints_iterator(str(tmp_path), 60, stop=lambda: time.passed >= 7)
    assert len(list(iterator)) == 1
    assert time.passed == 7
    # A stop comes before the timeout function.
    functions = {"timeout_fn": pytest.fail, "stop": lambda: True}
    assert list(checkpoints_iterator(str(tmp_path), timeout=9, **functions)) == []


def test_the_timeout_function_is_asked_each_time_and_decides(training, tmp_path, time):
    asked = []

    def timeout_fn():
        asked.append(time.passed)
        return len(asked) == 3

    training(1)
    time.at(14, lambda: training(2))
    found = checkpoints_iterator(str(tmp_path), timeout=10, timeout_fn=timeout_fn)
    assert [path.rpartition("-")[2] for path in found] == ["1", "2"]
    assert asked == [10, 24, 34]
