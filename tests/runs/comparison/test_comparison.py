"""Comparisons of runs: options, steps, settings and verdict."""

import random
from types import SimpleNamespace

import pytest

from made_up_runs import alive
from tf_frame.errors import ConfigError, DataError
from tf_frame.runs.comparison.compared_run import read_runs
from tf_frame.runs.comparison.comparison import compare_runs
from tf_frame.runs.comparison.settings import Setting
from tf_frame.runs.comparison.verdict import judge


@pytest.fixture
def compare(make_run):
    """Compares runs, each described by learning rate, seed and evaluations of mean_iou."""

    def compare(*described, metric="mean_iou", mode=None, result=None):
        folders = []
        for number, (rate, seed, values) in enumerate(described):
            config = (
                f"plugin: deeplab\nlearning_rate: {rate}\nrandom_seed: {seed}\nmax_to_keep: 5\n"
            )
            folders.append(
                make_run(
                    f"run-{number}",
                    config=config.replace("5", str(number + 3)),
                    result=result or {},
                    evaluations=[(step, 1 - value, value) for step, value in values.items()],
                )
            )
        return compare_runs(read_runs(folders, alive), metric=metric, mode=mode)

    return compare


def test_seeds_of_one_setting_say_whether_another_one_is_better(compare):
    compared = compare(
        (0.1, 1, {20: 0.800}), (0.1, 2, {20: 0.802}), (0.3, 1, {20: 0.9}), (0.3, 2, {20: 0.901})
    )
    assert [(s.labels, s.name) for s in compared.settings] == [
        ("A, B", "learning_rate 0.1"),
        ("C, D", "learning_rate 0.3"),
    ]
    noise_a, noise_c, difference = compared.verdict.lines
    assert noise_a.startswith(
        "A, B differ in their seeds only, so by noise: mean_iou 0.8000 to 0.8020, mean 0.8010"
    )
    assert noise_c.startswith("C, D differ in their seeds only")
    assert difference.startswith(
        "C, D (learning_rate 0.3) are better than A, B (learning_rate 0.1): 0.9005 against 0.8010, "
        "more than noise (p < 0.001)"
    )
    assert compared.verdict.best is compared.settings[1]


def test_what_only_saves_or_seeds_makes_no_other_setting(compare):
    compared = compare((0.1, 1, {20: 0.8}), (0.1, 2, {20: 0.9}))
    assert set(compared.options) == {"random_seed", "max_to_keep"}
    (line,) = compared.verdict.lines
    assert line.startswith("A, B differ in their seeds only") and compared.verdict.best is None


def test_a_difference_within_the_noise_of_seeds_is_not_claimed(compare):
    compared = compare((0.1, 1, {20: 0.80}), (0.1, 2, {20: 0.84}), (0.3, 1, {20: 0.86}))
    *_, last, hint = compared.verdict.lines
    assert last.startswith("C (learning_rate 0.3) is not proved to be better than A, B")
    assert "may be noise (p = 0.4" in last and hint.startswith("more seeds of each setting tell")
    assert compared.verdict.best is None


def test_without_a_second_seed_the_verdict_says_how_to_know_the_noise(compare):
    compared = compare((0.1, 1, {20: 0.8}), (0.3, 1, {20: 0.9}))
    ahead, hint = compared.verdict.lines
    assert "is ahead of A (learning_rate 0.1) by 0.1000 in mean_iou; whether that is noise" in ahead
    assert hint.startswith("more seeds of each setting tell more, such as: tf-frame run --config ")
    config, _, folder = hint.rpartition(" --random_seed 2 --model_dir ")
    assert config.endswith("/config.yaml") and folder.endswith("-seed-2")


def test_settings_with_the_same_value_are_not_ahead(compare):
    same, hint = compare((0.1, 1, {20: 0.8}), (0.3, 1, {20: 0.8})).verdict.lines
    assert same == "A (learning_rate 0.1) and B (learning_rate 0.3) have the same mean_iou, 0.8000"
    assert hint.startswith("more seeds of each setting tell more")


def test_the_smallest_loss_is_the_best(compare):
    runs = [(0.1, s, {20: 0.8 + s / 1000}) for s in (1, 2)]
    compared = compare(*runs, *((0.3, s, {20: 0.5 + s / 1000}) for s in (1, 2)), metric="loss")
    assert compared.rises is False and compared.verdict.best.labels == "A, B"


def test_runs_are_compared_at_the_last_step_that_all_have_evaluated(compare):
    compared = compare((0.1, 1, {10: 0.5, 20: 0.9}), (0.3, 1, {10: 0.6}))
    assert compared.step == 10
    assert compared.notes == ["compared at step 10, the last one that all evaluated; A went on"]
    assert compared.metric_rows()["mean_iou"] == ["0.5000", "0.6000"]
    assert compared.step_rows() == {"10": ["0.5000", "0.6000"]}
    assert compared.metric == "mean_iou"
    assert list(compared.best_rows().values()) == [["0.9000", "0.6000"], ["20", "10"]]


def test_without_a_common_step_the_last_evaluations_are_compared(compare):
    compared = compare((0.1, 1, {10: 0.5}), (0.3, 1, {11: 0.6}))
    assert compared.step is None and "no step was evaluated by all runs" in compared.notes[0]
    assert compared.metric_rows()["mean_iou"] == ["0.5000", "0.6000"]


def test_curves_begin_with_the_metric_and_have_the_training_loss(compare):
    curves = compare((0.1, 1, {10: 0.5, 20: 0.9}), (0.3, 1, {10: 0.6})).curves()
    assert list(curves) == ["mean_iou", "loss", "training loss"]
    assert curves["mean_iou"] == {"A": [(10, 0.5), (20, 0.9)], "B": [(10, 0.6)]}
    assert curves["training loss"]["B"] == [(10, 0.9)]


def test_speed_and_memory_are_those_of_the_results(compare):
    result = {"steps_per_sec": 2.5, "peak_memory_bytes": 2**30, "input_share": 0.12}
    rows = compare((0.1, 1, {20: 0.5}), (0.3, 1, {20: 0.6}), result=result).speed_rows()
    assert rows["steps/s"] == ["2.50", "2.50"]
    assert rows["peak memory"] == ["1.0 GiB", "1.0 GiB"]
    assert rows["waits for input"] == ["12%", "12%"]
    assert rows["duration, s"] == ["8", "8"] and "GFLOP/s" not in rows


def test_a_metric_that_no_run_has_is_refused_with_the_nearest(compare):
    runs = ((0.1, 1, {20: 0.5}), (0.3, 1, {20: 0.6}))
    with pytest.raises(ConfigError, match="--metric 'mean_io': .* did you mean mean_iou"):
        compare(*runs, metric="mean_io")


def test_runs_that_have_not_evaluated_are_refused(compare):
    with pytest.raises(ConfigError, match="none of the runs .*run-0.* has evaluated; evaluate"):
        compare((0.1, 1, {}), (0.3, 1, {}), metric="")


def test_a_run_that_is_not_over_or_failed_is_noted(make_run):
    folders = [
        make_run("a", evaluations=[(20, 0.1, 0.9)], status={"state": "failed", "reason": "boom"}),
        make_run("b", config="random_seed: 2\n", evaluations=[(20, 0.1, 0.8)], result={}),
    ]
    compared = compare_runs(read_runs(folders, alive))
    assert compared.notes == ["A failed: boom"]


def test_a_folder_without_a_run_and_a_damaged_run_are_refused(make_run, tmp_path):
    good = make_run("good", evaluations=[(20, 0.1, 0.9)])
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match="empty is not the folder of a run"):
        read_runs([good, str(tmp_path / "empty")], alive)
    bad = make_run("bad")
    (tmp_path / "bad" / "tasks" / "chief-0.json").write_text("{")
    with pytest.raises(DataError, match="chief-0.json is damaged"):
        read_runs([good, bad], alive)


def test_a_damaged_result_is_a_note(make_run, tmp_path):
    folders = [make_run(name, evaluations=[(20, 0.1, 0.9)]) for name in ("a", "b")]
    (tmp_path / "a" / "result.json").write_text("[")
    compared = compare_runs(read_runs(folders, alive))
    assert any(
        note.startswith("A: ") and "result.json is damaged" in note for note in compared.notes
    )


def test_versions_that_differ_are_no_options(make_run):
    config = "plugin: deeplab\nversions: {tf-frame: 0.1.0, mine: %s}\n"
    folders = [make_run(f"r{n}", config=config % n, evaluations=[(20, 0.1, 0.9)]) for n in (1, 2)]
    compared = compare_runs(read_runs(folders, alive))
    assert compared.options == {}
    assert compared.origin == {"versions.mine": ["1", "2"]}


def test_a_repeated_seed_is_no_further_evidence(compare):
    compared = compare((0.1, 1, {20: 0.8}), (0.1, 1, {20: 0.8}), (0.3, 1, {20: 0.8001}))
    assert compared.verdict.best is None
    assert "cannot be told without different seeds of a setting" in compared.verdict.lines[0]
    assert "B repeats A, its seed too: it counts once" in compared.notes


def test_equal_runs_are_no_runs_without_the_metric(compare):
    assert compare((0.1, 1, {20: 0.8}), (0.1, 1, {20: 0.8})).verdict.lines == [
        "there is one value of mean_iou to compare, 0.8000: of runs with the same options and "
        "seed one counts"
    ]


def test_a_folder_that_is_given_twice_is_refused(make_run, tmp_path):
    folder = make_run("run", evaluations=[(20, 0.1, 0.9)])
    with pytest.raises(ConfigError, match="is given twice"):
        read_runs([folder, f"{tmp_path}/../{tmp_path.name}/run"], alive)


def test_a_value_that_is_not_finite_is_left_out_and_noted(compare):
    runs = [(0.1, 1, {20: float("nan")}), *((0.3, s, {20: 0.9 + s / 1000}) for s in (1, 2))]
    compared = compare(*runs, (0.5, 1, {20: 0.1}))
    assert compared.verdict.best.labels == "B, C"
    assert "mean_iou of A is nan: not compared" in compared.notes


def test_the_best_mode_of_another_metric_says_nothing(make_run):
    config = "plugin: deeplab\nkeep_best: 1\nbest_metric: loss\nbest_mode: min\n"
    config += "learning_rate: %s\nrandom_seed: %s\n"
    folders = [
        make_run(f"r{rate}{seed}", config=config % (rate, seed), evaluations=[(20, 0.1, value)])
        for rate, seed, value in ((1, 1, 0.5), (1, 2, 0.501), (2, 1, 0.9), (2, 2, 0.901))
    ]
    compared = compare_runs(read_runs(folders, alive), metric="mean_iou")
    assert compared.rises and compared.verdict.best.labels == "C, D"
    assert compare_runs(read_runs(folders, alive)).metric == "loss"


def test_a_main_metric_that_was_never_evaluated_is_not_compared(make_run):
    config = "plugin: deeplab\nkeep_best: 1\nbest_metric: f1\nrandom_seed: %s\n"
    folders = [make_run(f"r{n}", config=config % n, evaluations=[(20, 0.1, 0.9)]) for n in (1, 2)]
    assert compare_runs(read_runs(folders, alive)).metric == "loss"


def test_equal_settings_are_rarely_called_different():
    random.seed(5)
    run, wrong = SimpleNamespace(name="run", label="A", options={}), 0
    for _ in range(400):
        settings = [
            Setting([run], f"s{k}", [random.gauss(0, 1) for _ in range(3)]) for k in range(6)
        ]
        lines = judge(settings, "accuracy", rises=True).lines
        wrong += any("more than noise" in line for line in lines)
    assert wrong / 400 < 0.07  # The level is 0.05.


def test_many_evaluations_take_no_quadratic_time(make_run):
    evaluations = [(step, 0.1, 0.5) for step in range(1, 20_001)]
    folders = [
        make_run(f"r{n}", config=f"random_seed: {n}\n", evaluations=evaluations) for n in (1, 2)
    ]
    compared = compare_runs(read_runs(folders, alive))
    assert next(iter(compared.step_rows())) == "20000" and len(compared.step_rows()) == 20_000
