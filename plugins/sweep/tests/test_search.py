"""Sweeps with fake runs: values, pruning, restarts, failures, seeds, results."""

import sys

import pytest
import yaml

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


def test_a_folder_with_another_sweep_is_refused(sweep):
    sweep("--trials", "1")
    code, _, err = sweep("--trials", "1", "--seeds", "2")
    assert code == 2 and "s has a sweep with another seeds: its seeds is '1'" in err


def test_optuna_is_imported_by_no_other_command():
    import subprocess

    program = (
        "import sys\nfrom tf_frame.__main__ import main\n"
        "main(['--help']), main(['plugins', 'list']), main(['runs']), main(['sweep', '--help'])\n"
        "sys.exit('optuna' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], capture_output=True).returncode == 0
