import os
import time
import types

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import listed_checkpoints
from tf_frame.checkpoint.write.folder import KeptCheckpoints, write_list

HOUR_SECS = 3600.0


class Clock:
    """Stands in for `time.time`."""

    now = 1_700_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr("tf_frame.checkpoint.write.folder.time", types.SimpleNamespace(time=clock))
    return clock


@pytest.fixture
def add(tmp_path, save):
    """Writes checkpoints of steps, and adds them to those that are kept."""

    def add(kept, *steps):
        for step in steps:
            with tf.Graph().as_default(), tf.Session() as session:
                weights = tf.get_variable("weights", [2])
                session.run(weights.initializer)
                prefix = str(tmp_path / f"model.ckpt-{step}")
                tf.train.Saver().save(session, prefix, write_meta_graph=False, write_state=False)
            kept.add(prefix)

    return add


def on_disk(folder):
    return sorted(int(path.stem.rsplit("-")[-1]) for path in folder.glob("model.ckpt-*.index"))


def listed(folder):
    return [int(path.rsplit("-")[-1]) for path in listed_checkpoints(str(folder))]


def started(folder, **options):
    kept = KeptCheckpoints(str(folder), **options)
    kept.recover()
    return kept


def test_the_newest_are_kept_and_the_others_deleted_with_all_their_files(tmp_path, add):
    kept = started(tmp_path, max_to_keep=2)
    add(kept, 1, 2, 3, 4)
    assert listed(tmp_path) == on_disk(tmp_path) == [3, 4]
    assert len(list(tmp_path.glob("model.ckpt-*"))) == 4
    # A step that comes again is listed once, as the newest.
    add(kept, 3)
    assert listed(tmp_path) == [4, 3]


def test_a_list_with_a_path_twice_deletes_no_kept_checkpoint(tmp_path, add):
    add(started(tmp_path), 1, 2)
    paths = [str(tmp_path / f"model.ckpt-{step}") for step in (2, 1, 2)]
    write_list(str(tmp_path), paths)
    assert listed(tmp_path) == [1, 2]
    add(started(tmp_path, max_to_keep=2), 3)
    assert listed(tmp_path) == on_disk(tmp_path) == [2, 3]


def test_checkpoints_of_another_folder_are_never_deleted(tmp_path, add):
    """As in a copy of a folder whose list has the paths of the original."""
    add(started(tmp_path), 1, 2)
    copy = tmp_path / "copy"
    copy.mkdir()
    paths = "".join(
        f'all_model_checkpoint_paths: "{tmp_path}/model.ckpt-{step}"\n' for step in (1, 2)
    )
    (copy / "checkpoint").write_text(f'model_checkpoint_path: "{tmp_path}/model.ckpt-2"\n{paths}')
    kept = started(copy, max_to_keep=1)
    assert kept.paths() == []
    add(kept, 3)
    assert on_disk(tmp_path) == [1, 2, 3]


def test_nothing_is_deleted_before_the_new_one_is_listed(tmp_path, add):
    kept = started(tmp_path, max_to_keep=1)
    add(kept, 1)
    os.remove(tmp_path / "checkpoint")
    (tmp_path / "checkpoint").mkdir()
    with pytest.raises(tf.errors.OpError):
        add(kept, 2)
    assert on_disk(tmp_path) == [1, 2]
    assert kept.paths() == [str(tmp_path / "model.ckpt-1")]


def test_what_earlier_runs_saved_counts(tmp_path, add):
    add(started(tmp_path, max_to_keep=3), 1, 2, 3)
    add(started(tmp_path, max_to_keep=3), 4)
    assert listed(tmp_path) == on_disk(tmp_path) == [2, 3, 4]
    # A smaller number to keep deletes several at once.
    add(started(tmp_path, max_to_keep=2), 5)
    assert listed(tmp_path) == on_disk(tmp_path) == [4, 5]


@pytest.mark.parametrize("max_to_keep", [None, 0])
def test_without_a_number_none_is_deleted_and_the_newest_listed(tmp_path, add, max_to_keep):
    add(started(tmp_path, max_to_keep=max_to_keep), 1, 2, 3)
    assert on_disk(tmp_path) == [1, 2, 3]
    assert listed(tmp_path) == [3]


def test_one_that_is_gone_counts_no_more(tmp_path, add):
    add(started(tmp_path, max_to_keep=2), 1, 2)
    os.remove(tmp_path / "model.ckpt-2.index")
    add(started(tmp_path, max_to_keep=2), 3)
    assert listed(tmp_path) == [1, 3]


def test_the_list_is_byte_by_byte_that_of_the_saver(tmp_path, add):
    add(started(tmp_path), 1, 2, 3)
    (tmp_path / "stock").mkdir()
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.get_variable("weights", [2]).initializer)
        saver = tf.train.Saver(save_relative_paths=True)
        for step in (1, 2, 3):
            saver.save(session, str(tmp_path / "stock" / "model.ckpt"), global_step=step)
    stock = (tmp_path / "stock" / "checkpoint").read_text()
    assert (tmp_path / "checkpoint").read_text() == stock
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-3")


def test_the_list_of_a_relative_folder_is_the_same(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    write_list("runs", ["runs/model.ckpt-1"])
    relative = (tmp_path / "runs" / "checkpoint").read_text()
    write_list(str(tmp_path / "runs"), [str(tmp_path / "runs" / "model.ckpt-1")])
    assert (tmp_path / "runs" / "checkpoint").read_text() == relative
    assert 'model_checkpoint_path: "model.ckpt-1"' in relative


@pytest.mark.slow
@pytest.mark.parametrize("hours", [1.0, 2.5])
def test_one_for_every_so_many_hours_is_kept_as_the_saver_does(
    tmp_path, add, clock, monkeypatch, hours
):
    # Every 40 minutes, two newest kept.
    kept = started(tmp_path, max_to_keep=2, keep_every_n_hours=hours)
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.get_variable("weights", [2]).initializer)
        begin = clock.now
        monkeypatch.setattr(time, "time", clock)  # The saver reads it.
        saver = tf.train.Saver(max_to_keep=2, keep_checkpoint_every_n_hours=hours)
        (tmp_path / "stock").mkdir()
        for step in range(1, 13):
            clock.now = begin + step * 2400
            add(kept, step)
            saver.save(session, str(tmp_path / "stock" / "model.ckpt"), global_step=step)
    assert on_disk(tmp_path) == on_disk(tmp_path / "stock")
    assert 3 < len(on_disk(tmp_path)) < 12
    assert listed(tmp_path) == [11, 12]


def test_the_hours_go_on_over_restarts(tmp_path, add, clock):
    begin = clock.now
    for step in range(1, 10):  # A run for each checkpoint, every 40 minutes.
        clock.now = begin + (step - 1) * 2400
        kept = started(tmp_path, max_to_keep=1, keep_every_n_hours=2)
        clock.now = begin + step * 2400
        add(kept, step)
    # Step 4 is the first after 2 hours, step 7 the first after 4.
    assert on_disk(tmp_path) == [4, 7, 9]


def test_after_a_pause_it_does_not_keep_one_for_each_hour_of_the_pause(tmp_path, add, clock):
    add(started(tmp_path, max_to_keep=1, keep_every_n_hours=1), 1)
    clock.now += 100 * HOUR_SECS
    kept = started(tmp_path, max_to_keep=1, keep_every_n_hours=1)
    for step in range(2, 8):
        clock.now += 60
        add(kept, step)
    assert on_disk(tmp_path) == [2, 3, 7]


def test_times_of_checkpoints_that_the_list_does_not_say_are_those_of_the_files(
    tmp_path, add, clock
):
    add(started(tmp_path), 1)
    clock.now = os.stat(tmp_path / "model.ckpt-1.index").st_mtime - 2 * HOUR_SECS
    kept = started(tmp_path, max_to_keep=1, keep_every_n_hours=1)
    add(kept, 2)
    assert on_disk(tmp_path) == [1, 2]


def test_one_that_cannot_be_deleted_is_told_and_does_not_end_the_run(
    tmp_path, add, monkeypatch, caplog
):
    def fail(path):
        raise tf.errors.PermissionDeniedError(None, None, "not yours")

    kept = started(tmp_path, max_to_keep=1)
    add(kept, 1)
    monkeypatch.setattr(tf.io.gfile, "remove", fail)
    add(kept, 2)
    assert listed(tmp_path) == [2]
    assert f"{tmp_path}/model.ckpt-1 could not be deleted: not yours" in caplog.text


def test_a_discarded_checkpoint_leaves_files_and_list(tmp_path, add):
    kept = KeptCheckpoints(str(tmp_path))
    add(kept, 1, 2, 3)
    kept.discard(str(tmp_path / "model.ckpt-2"))
    assert (on_disk(tmp_path), listed(tmp_path)) == ([1, 3], [1, 3])
    for step in (1, 3):
        kept.discard(str(tmp_path / f"model.ckpt-{step}"))
    assert list(tmp_path.iterdir()) == [] and kept.paths() == []
    kept.discard(str(tmp_path / "model.ckpt-7"))
