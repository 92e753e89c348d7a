"""Sweeps with fake runs: values, pruning, restarts, failures, seeds, results."""

import contextlib
import os
import sys
import threading

import pytest
import yaml

from tf_frame.file_lock import file_lock

pytestmark = pytest.mark.process


def test_the_best_trial_is_found_and_its_options_are_written(sweep, trials, tmp_path):
    code, out, _ = sweep("--trials", "6", "--parallel", "2")
    assert code == 0
    done = trials()
    assert [trial.number for trial in done] == list(range(6))
    # The options of the run come first.
    assert done[0].params == {"learning_rate": 0.001}
    best = max(done, key=lambda trial: trial.value)
    assert f"best: trial {best.number}, accuracy {best.value:.4f}" in out
    settings = yaml.safe_load((tmp_path / "s" / "best.yaml").read_text())
    assert settings["learning_rate"] == best.params["learning_rate"]
    assert (settings["plugin"], settings["max_steps"]) == ("classification", 60)
    assert "model_dir" not in settings
    assert "6 runs by accuracy" in (tmp_path / "s" / "comparison.html").read_text()
    assert len({trial.params["learning_rate"] for trial in done}) == 6
    assert [list(trial.intermediate_values) for trial in done] == [[20, 40, 60]] * 6
    # The same command has nothing left to do.
    again, out, _ = sweep("--trials", "6", "--parallel", "2")
    assert again == 0 and "6 of 6 trials have ended" in out and "\n0 trials in " in out


def test_more_trials_go_on_with_other_values(sweep, trials):
    sweep("--trials", "2", "--sampler", "random")
    sweep("--trials", "4", "--sampler", "random")
    assert len({trial.params["learning_rate"] for trial in trials()}) == 4


def test_a_run_that_dies_goes_on(sweep, trials, tmp_path):
    code, _, _ = sweep("--trials", "2", runs={"1": "die"})
    assert code == 0 and [trial.state.name for trial in trials()] == ["COMPLETE"] * 2
    assert (tmp_path / "s" / "trial-0001.starts").read_text() == "started\n" * 2
    assert list(trials()[1].intermediate_values) == [20, 40, 60]


def test_refused_and_diverged_options_are_pruned_with_the_reason(sweep, trials):
    code, out, _ = sweep("--trials", "3", runs={"1": "refused", "2": "diverge"})
    assert code == 0 and [trial.state.name for trial in trials()] == ["COMPLETE", *["PRUNED"] * 2]
    assert "trial 1 refused: --learning_rate 1: too large" in out
    assert "trial 2 diverged: the loss is NaN" in out
    reasons = [trial.user_attrs.get("reason") for trial in trials()]
    assert reasons == [None, "refused: --learning_rate 1: too large", "diverged: the loss is NaN"]


def test_a_hopeless_trial_is_stopped_early(sweep, trials):
    code, out, _ = sweep("--trials", "7", "--pruner", "median", runs={"6": "hopeless"})
    assert code == 0
    *others, last = trials()
    assert last.state.name == "PRUNED" and list(last.intermediate_values) == [20]
    assert "trial 6 pruned: at step 20" in out
    assert all(trial.state.name in ("COMPLETE", "PRUNED") for trial in others)


def test_too_many_failures_end_the_sweep_and_name_the_log(sweep, trials, tmp_path):
    failing = {str(number): "fail" for number in range(9)}
    code, out, err = sweep("--trials", "9", "--max_failures", "2", runs=failing)
    assert code == 1 and [trial.state.name for trial in trials()] == ["FAIL", "FAIL"]
    assert "trial 0 failed: the disk is full" in out
    assert err == (
        "tf-frame: 2 trials failed (--max_failures 2), the last one: the disk is full; its log is "
        "s/trial-0001.log\n"
    )
    assert "the disk is full" in (tmp_path / "s" / "trial-0001.log").read_text()


def test_a_sweep_whose_trials_are_all_refused_ends(sweep):
    code, _, err = sweep(runs={str(number): "refused" for number in range(9)})
    assert code == 2 and "all 3 trials were refused, the last one: --learning_rate 1" in err


def test_the_mean_over_the_seeds_counts(sweep, trials, tmp_path):
    sweep("--trials", "1", "--seeds", "3")
    (trial,) = trials()
    one = 1 - 1 / 10
    assert trial.value == pytest.approx(one + (0.001 + 0.002 + 0.003) / 3)
    assert sorted(path.name for path in (tmp_path / "s").glob("trial*3")) == ["trial-0000-seed-3"]
    assert trial.intermediate_values[60] == pytest.approx(one + 0.001)


def test_a_grid_has_each_combination_once(sweep, trials):
    space = ("--metric", "accuracy", "--space", "learning_rate=0.001,0.01,0.1")
    sweep("--trials", "9", "--sampler", "grid", space=space)
    assert sorted(trial.params["learning_rate"] for trial in trials()) == ["0.001", "0.01", "0.1"]


def test_a_metric_that_runs_do_not_have_ends_the_sweep_at_once(sweep):
    space = ("--metric", "mean_iou", "--space", "learning_rate=0.1..1")
    code, _, err = sweep(space=space)
    assert code == 2 and "--metric 'mean_iou': trial 0 has evaluated accuracy" in err


def test_a_failure_ends_the_other_running_trial_as_well(sweep, tmp_path):
    runs = {"0": "fail", "1": "slow"}
    code, _, _ = sweep("--trials", "2", "--parallel", "2", "--max_failures", "1", runs=runs)
    assert code == 1
    starts = tmp_path / "s" / "trial-0001.starts"
    assert not starts.exists() or starts.read_text() == "started\n"


def test_a_value_that_is_not_finite_is_no_value(sweep, trials):
    code, out, _ = sweep("--trials", "2", runs={"0": "nan"})
    assert code == 0 and "trial 0 diverged: accuracy is nan" in out
    assert [trial.state.name for trial in trials()] == ["PRUNED", "COMPLETE"]


def test_a_lock_that_another_process_holds_is_waited_for(sweep, trials, tmp_path):
    (tmp_path / "s").mkdir()
    with contextlib.ExitStack() as stack:
        stack.enter_context(file_lock(str(tmp_path / "s" / "sweep.lock")))
        release = threading.Timer(0.5, stack.close)
        release.start()
        code, _, _ = sweep("--trials", "1")
        release.join()
    assert code == 0 and len(trials()) == 1


@pytest.mark.filterwarnings("ignore:The value of `grace_period`")
def test_the_lock_of_a_killed_process_does_not_hang(sweep, tmp_path, monkeypatch):
    sweep("--trials", "1")
    journal = tmp_path / "s" / "study.journal"
    os.symlink(journal, f"{journal}.lock")
    # Optuna waits 30 s before it removes a lock.
    from optuna.storages.journal import JournalFileSymlinkLock

    monkeypatch.setattr(JournalFileSymlinkLock.__init__, "__defaults__", (1,))
    code, out, _ = sweep("--trials", "2")
    assert code == 0 and "1 trials in" in out


def test_options_that_do_not_fit_together_are_refused_without_a_process(sweep, trials, tmp_path):
    space = ("--metric", "accuracy", "--space", "train_batch_size=7,8")
    run = ("--", "run", "--plugin", "classification", "--num_clones", "2", "--learning_rate=0.01")
    code, out, _ = sweep("--sampler", "grid", "--trials", "2", space=space, run=run)
    assert code == 0 and "refused: --train_batch_size 7 is not divisible" in out
    assert sorted(trial.state.name for trial in trials()) == ["COMPLETE", "PRUNED"]
    assert len(list((tmp_path / "s").glob("*.starts"))) == 1


def test_a_study_may_be_in_a_database(sweep, tmp_path):
    pytest.importorskip("sqlalchemy")
    storage = f"sqlite:///{tmp_path}/study.db"
    for trials, expected in ((2, "2 trials in"), (3, "1 trials in")):
        code, out, _ = sweep("--storage", storage, "--trials", str(trials))
        assert code == 0 and expected in out


@pytest.mark.parametrize("options", [("--sampler", "cma_es"), ("--pruner", "hyperband")])
def test_other_samplers_and_pruners_of_optuna(sweep, trials, options):
    if "cma_es" in options:
        pytest.importorskip("cmaes")
    space = ("--metric", "accuracy", "--space", "learning_rate=log 0.001..1")
    code, _, _ = sweep("--trials", "3", *options, space=space)
    assert code == 0 and len(trials()) == 3


def test_a_folder_with_another_sweep_is_refused(sweep):
    sweep("--trials", "1")
    code, _, err = sweep("--trials", "1", "--seeds", "2")
    assert code == 2 and "s has another sweep, which differs in --seeds; give another" in err


def test_optuna_is_imported_by_no_other_command():
    import subprocess

    program = (
        "import sys\nfrom tf_frame.__main__ import main\n"
        "main(['--help']), main(['plugins', 'list']), main(['runs']), main(['sweep', '--help'])\n"
        "sys.exit('optuna' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True).returncode == 0
