"""The words of a sweep: folders, words of runs, and mistakes."""

import pytest

from tf_frame.errors import ConfigError
from tf_frame_sweep.command import Sweep
from tf_frame_sweep.plan import make_plan
from tf_frame_sweep.shares import gpu_variables, thread_options

WORDS = ("run", "--plugin", "classification")


def plan(*words, **options):
    params = Sweep.Params(**{"space": ("learning_rate=0.1..1",), "metric": "accuracy", **options})
    return make_plan(params, words or WORDS)


def test_the_same_command_has_the_same_folder_whatever_its_trials():
    first = plan()
    assert first.folder == plan(trials=99, parallel=2, sampler="random").folder
    assert first.folder.startswith("sweeps/classification-")
    others = [
        plan(*WORDS, "--max_steps", "9"),
        plan(space=("learning_rate=0.1..2",)),
        plan(seeds=2),
        plan(metric="mean_recall"),
    ]
    assert len({first.folder, *(other.folder for other in others)}) == 5
    # However the options are written.
    steps = first.setup.config.max_steps
    assert plan(*WORDS, f"--max_steps={steps}").folder == first.folder


def test_the_content_of_a_configuration_file_counts(tmp_path):
    file = tmp_path / "a.yaml"
    folders = set()
    for steps in (5, 6):
        file.write_text(f"plugin: classification\nmax_steps: {steps}\n")
        folders.add(plan("run", "--config", str(file)).folder)
    assert len(folders) == 2


def test_each_seed_has_a_run_of_its_own():
    seeded = plan(*WORDS, "--random_seed", "5", seeds=3, sweep_dir="s")
    assert seeded.seeds() == [5, 6, 7]
    assert seeded.folders(2) == [f"s/trial-0002-seed-{seed}" for seed in (5, 6, 7)]
    words = seeded.run_words({"learning_rate": 0.25}, 6)
    assert words[-2:] == ["--learning_rate=0.25", "--random_seed=6"]
    alone = plan(sweep_dir="s")
    assert alone.folders(2) == ["s/trial-0002"]
    assert alone.run_words({"learning_rate": 0.25}, 1)[-1] == "--learning_rate=0.25"


def test_parallel_runs_share_the_cores_by_options_unless_they_are_chosen(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda pid: set(range(8)))
    threads = ["--intra_op_threads=4", "--inter_op_threads=4"]
    assert plan(parallel=2).run_words({})[-2:] == threads
    assert thread_options(1) == {} and thread_options(9)["intra_op_threads"] == "1"
    chosen = plan(*WORDS, "--intra_op_threads", "3", parallel=2)
    assert chosen.run_words({}) == [*WORDS[1:], "--intra_op_threads", "3"]


@pytest.mark.parametrize(
    ("visible", "parallel", "expected"),
    [
        ("0,1,2,3", 2, ["0,1", "2,3"]),
        ("4,7", 2, ["4", "7"]),
        ("5", 2, ["5", "5"]),
        ("", 2, [None, None]),
        ("0,1", 1, [None]),
    ],
)
def test_gpus_are_divided(monkeypatch, visible, parallel, expected):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    variables = [gpu_variables(place, parallel) for place in range(parallel)]
    assert [each.get("CUDA_VISIBLE_DEVICES") for each in variables] == expected
    assert ("TF_FORCE_GPU_ALLOW_GROWTH" in variables[0]) == (visible == "5")


def test_the_direction_is_that_of_the_metric_or_the_mode():
    assert plan().rises and not plan(metric="loss").rises
    assert not plan(metric="score", mode="min").rises


@pytest.mark.parametrize(
    ("words", "options", "message"),
    [
        (("runs",), {}, "say what to train"),
        ((*WORDS, "--model_dir", "x"), {}, "leave out --model_dir"),
        (WORDS, {"space": ("learning_rat=0.1..1",)}, "unknown option --learning_rat; did you mean"),
        (WORDS, {"space": ("random_seed=1..9",)}, "a sweep chooses model_dir and random_seed"),
        (WORDS, {"space": ("learning_rate=a,b",)}, "'a' is not a number"),
        (WORDS, {"metric": "score"}, "give --mode max or --mode min"),
        ((*WORDS, "--noevaluate"), {}, "the runs evaluate nothing"),
        ((*WORDS, "--hook", "prometheus:9464"), {"parallel": 2}, "give --hook prometheus:0"),
    ],
)
def test_mistakes_are_refused_before_the_first_run(words, options, message):
    with pytest.raises(ConfigError, match=message):
        plan(*words, **options)
