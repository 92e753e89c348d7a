import json
import os

import pytest
import tensorflow.compat.v1 as tf

from tf_frame.checkpoint.find.newest import listed_checkpoints, newest_checkpoint, read_step
from tf_frame.checkpoint.write.best import BestCheckpoints
from tf_frame.errors import CheckpointError, ConfigError


@pytest.fixture
def best(tmp_path):
    """Starts a run's `BestCheckpoints`."""

    def best(metric="accuracy", keep=2, higher_is_better=True):
        return BestCheckpoints(
            str(tmp_path), metric=metric, keep=keep, higher_is_better=higher_is_better
        )

    return best


@pytest.fixture
def offer(save):
    """Offers checkpoints of steps that scored these values; returns whether each was kept."""

    def offer(best, **scores):
        scores = {int(step.removeprefix("step")): value for step, value in scores.items()}
        paths = save(*scores)
        return [
            best.offer(path, {"accuracy": value, "loss": 0.0})
            for path, value in zip(paths, scores.values(), strict=True)
        ]

    return offer


def steps(folder):
    """Steps that are kept by the file list, best.json and the files, which must agree."""
    folder = folder / "best"
    listed = [read_step(path) for path in listed_checkpoints(str(folder))]
    scored = [c["step"] for c in json.loads((folder / "best.json").read_text())["checkpoints"]]
    assert scored == listed[::-1]
    names = {f"model.ckpt-{step}{end}" for step in listed for end in (".index", DATA)}
    assert {path.name for path in folder.iterdir()} == names | {"best.json", "checkpoint"}
    return scored


DATA = ".data-00000-of-00001"


def test_the_best_are_kept_best_first(tmp_path, best, offer):
    kept = offer(best(), step1=0.3, step2=0.5, step3=0.4, step4=0.1)
    assert kept == [True, True, True, False]
    assert steps(tmp_path) == [2, 3]
    assert newest_checkpoint(str(tmp_path / "best")) == str(tmp_path / "best" / "model.ckpt-2")
    assert tf.train.latest_checkpoint(str(tmp_path / "best")).endswith("model.ckpt-2")


def test_lower_may_be_better_and_of_equal_ones_the_older_stays(tmp_path, best, offer):
    kept = offer(best(higher_is_better=False), step1=0.3, step2=0.5, step3=0.4, step4=0.1)
    assert kept == [True, True, True, True]
    assert steps(tmp_path) == [4, 1]
    assert offer(best(higher_is_better=False), step5=0.3) == [False]
    assert steps(tmp_path) == [4, 1]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_what_is_not_finite_is_never_best(tmp_path, best, offer, value):
    kept = best()
    assert offer(kept, step1=value) == [False]
    assert not (tmp_path / "best").exists()
    assert offer(kept, step2=0.1, step3=value) == [True, False]
    assert steps(tmp_path) == [2]


def test_scores_are_in_a_file_and_the_copies_do_not_go_with_the_originals(tmp_path, best, offer):
    kept = best()
    offer(kept, step1=0.25, step2=0.5)
    assert json.loads((tmp_path / "best" / "best.json").read_text()) == {
        "metric": "accuracy",
        "higher_is_better": True,
        "checkpoints": [{"step": 2, "value": 0.5}, {"step": 1, "value": 0.25}],
    }
    for file in tmp_path.glob("model.ckpt-*"):
        file.unlink()
    assert newest_checkpoint(str(tmp_path / "best")) == kept.path(2)
    assert tf.train.load_variable(kept.path(1), "weights").tolist() == list(range(64))


def test_what_earlier_runs_kept_counts(tmp_path, best, offer):
    offer(best(), step1=0.3, step2=0.5)
    assert offer(best(), step3=0.2, step4=0.4) == [False, True]
    assert steps(tmp_path) == [2, 4]
    assert best().scored() == [(2, 0.5), (4, 0.4)]
    # A smaller number to keep deletes the worse copies.
    assert offer(best(keep=1), step5=0.6) == [True]
    assert steps(tmp_path) == [5]


def test_one_whose_files_are_gone_counts_no_more(tmp_path, best, offer):
    offer(best(keep=1), step1=0.5)
    os.remove(tmp_path / "best" / "model.ckpt-1.index")
    assert offer(best(keep=1), step2=0.3) == [True]


def test_an_unknown_metric_is_refused_with_those_there_are(best, save):
    with pytest.raises(ValueError, match="keep is 0; it must be positive"):
        best(keep=0)
    (path,) = save(1)
    with pytest.raises(ConfigError) as error:
        best(metric="acuracy").offer(path, {"loss": 1.0, "accuracy": 0.5})
    assert str(error.value) == (
        "--best_metric 'acuracy' is not known; did you mean 'accuracy'? allowed: accuracy, loss"
    )


@pytest.mark.parametrize("other", [{"metric": "loss"}, {"higher_is_better": False}])
def test_another_metric_in_the_same_folder_is_refused(best, offer, other):
    offer(best(), step1=0.5)
    with pytest.raises(ConfigError, match="holds the best by the highest accuracy, and this run"):
        best(**other)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"checkpoints": [{"step": 1}]}'])
def test_a_spoilt_file_of_scores_counts_for_nothing_and_no_copy_is_deleted(
    tmp_path, best, offer, content, caplog
):
    offer(best(), step1=0.5)
    (tmp_path / "best" / "best.json").write_text(content)
    assert offer(best(), step2=0.1) == [True]
    assert "best.json is damaged: " in caplog.text
    assert (tmp_path / "best" / "best.json.damaged").read_text() == content
    assert (tmp_path / "best" / "model.ckpt-1.index").exists()


def test_a_step_that_is_evaluated_again_has_its_new_value(tmp_path, best, offer):
    kept = best()
    offer(kept, step1=0.5, step2=0.3)
    assert kept.offer(kept.path(1), {"accuracy": 0.2})
    assert steps(tmp_path) == [2, 1]
    # A step that comes again worse is forgotten.
    assert not best(keep=1).offer(kept.path(2), {"accuracy": 0.1})
    assert steps(tmp_path) == [1]


def test_a_step_that_comes_again_with_other_values_is_copied_again(tmp_path, best, save):
    kept = best()
    kept.offer(save(1, weights=[1.0])[0], {"accuracy": 0.5})
    kept.offer(save(1, weights=[2.0])[0], {"accuracy": 0.5})
    assert tf.train.load_variable(kept.path(1), "weights").tolist() == [2.0]
    assert steps(tmp_path) == [1]


def test_a_copy_that_fails_leaves_what_was_kept(tmp_path, best, offer, save, monkeypatch):
    kept = best(keep=1)
    offer(kept, step1=0.5)
    (path,) = save(2)

    def fail(*_, **__):
        raise tf.errors.ResourceExhaustedError(None, None, "No space left on device")

    monkeypatch.setattr(tf.io.gfile, "copy", fail)
    with pytest.raises(CheckpointError) as error:
        kept.offer(path, {"accuracy": 0.9})
    assert f"{path} could not be copied to {tmp_path}/best: No space left" in str(error.value)
    assert steps(tmp_path) == [1]
    assert [step for step, _ in kept.scored()] == [1]


def test_a_copy_that_was_killed_is_removed_by_the_next_run(tmp_path, best, offer):
    offer(best(), step1=0.5)
    folder = tmp_path / "best"
    (folder / "model.ckpt-2.saving").mkdir()
    (folder / "model.ckpt-2.saving" / ("model.ckpt-2" + DATA)).write_text("half")
    (folder / ("model.ckpt-2" + DATA)).write_text("half")
    best()
    assert steps(tmp_path) == [1]
