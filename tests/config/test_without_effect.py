import pytest

from tf_frame.config.run_options import RunOptions, run_options, without_effect

CLUSTER = {"master": "grpc://localhost:1", "worker_replicas": 2, "num_ps_tasks": 2}


def test_defaults_are_nothing_to_speak_of():
    assert without_effect(RunOptions(), RunOptions()) == []


@pytest.mark.parametrize(
    ("idle", "used", "line"),
    [
        (
            {"warm_start_map": ("a=b",), "warm_start_exclude": ("c",)},
            {"warm_start_from": "x"},
            "--warm_start_exclude, --warm_start_map have no effect without --warm_start_from",
        ),
        (
            {"eval_moving_averages": False},
            {"moving_average_decay": 0.9},
            "--eval_moving_averages has no effect without --moving_average_decay",
        ),
        (
            {"moving_average_num_updates": False},
            {"moving_average_decay": 0.0},
            "--moving_average_num_updates has no effect without --moving_average_decay",
        ),
        (
            {"replicas_to_aggregate": 2, "batch_size_scope": "global"},
            {"sync_replicas": True, **CLUSTER},
            "--replicas_to_aggregate, --batch_size_scope have no effect without --sync_replicas",
        ),
        (
            {"summarize_gradients": True, "save_summaries_steps": 0},
            {"save_summaries_steps": 5},
            "--summarize_gradients has no effect without --save_summaries_steps or "
            "--save_summaries_secs",
        ),
        (
            {"save_summaries_steps": None, "loss_average_decay": 0.5, "summarize_variables": True},
            {"save_summaries_secs": 5},
            "--summarize_variables, --loss_average_decay have no effect without "
            "--save_summaries_steps or --save_summaries_secs",
        ),
        (
            {"best_metric": "accuracy", "best_mode": "max"},
            {"keep_best": 1},
            "--best_metric, --best_mode have no effect without --keep_best",
        ),
        (
            {"profile_num_steps": 3, "profile_all_workers": True},
            {"profile_at_step": (7,)},
            "--profile_num_steps, --profile_all_workers have no effect without --profile_at_step "
            "or --profile_every_n_steps",
        ),
        (
            {"profile_num_steps": 3},
            {"profile_every_n_steps": 7},
            "--profile_num_steps has no effect without --profile_at_step "
            "or --profile_every_n_steps",
        ),
        (
            {"trace_gzip": True, "trace_memory": True, "trace_dataflow": False},
            {"trace_every_n_steps": 7},
            "--trace_gzip, --trace_memory, --trace_dataflow have no effect without "
            "--trace_at_step or --trace_every_n_steps",
        ),
        (
            {"trace_gzip": True},
            {"trace_at_step": (7,)},
            "--trace_gzip has no effect without --trace_at_step or --trace_every_n_steps",
        ),
        (
            {"placement": "balanced"},
            CLUSTER,
            "--placement has no effect with fewer than two parameter servers (--num_ps_tasks)",
        ),
        (
            {"placement": "balanced", **CLUSTER, "num_ps_tasks": 1},
            CLUSTER,
            "--placement has no effect with fewer than two parameter servers (--num_ps_tasks)",
        ),
        (
            {"warmup": "linear"},
            {"warmup_steps": 5},
            "--warmup has no effect without --warmup_steps",
        ),
        (
            {"quantize_delay_step": 50, "max_steps": 50},
            {"max_steps": 51},
            "--quantize_delay_step has no effect unless it is below --max_steps",
        ),
    ],
)
def test_an_option_that_changes_nothing_is_named(idle, used, line):
    assert without_effect(RunOptions(**idle), RunOptions()) == [line]
    assert without_effect(RunOptions(**{**idle, **used}), RunOptions()) == []


def test_a_default_of_the_model_is_not_reported():
    defaults = RunOptions(warmup="linear", warmup_steps=20, placement="balanced")
    config = RunOptions(warmup="linear", warmup_steps=0, placement="balanced")
    assert without_effect(config, defaults) == []


def test_every_required_option_exists():
    names = {option.name for option in run_options()}
    assert {name for option in run_options() for name in option.requires} < names


def test_a_profile_after_the_end_and_best_checkpoints_without_evaluation_have_no_effect():
    defaults = RunOptions()
    late = RunOptions(profile_at_step=(500,), max_steps=20)
    assert without_effect(late, defaults) == ["--profile_at_step has no effect beyond --max_steps"]
    late = RunOptions(trace_at_step=(21,), profile_at_step=(20, 21), max_steps=20)
    assert without_effect(late, defaults) == ["--trace_at_step has no effect beyond --max_steps"]
    assert without_effect(RunOptions(profile_at_step=(5, 500), max_steps=20), defaults) == []
    nothing = RunOptions(keep_best=1, evaluate=False)
    assert without_effect(nothing, defaults) == [
        "--keep_best has no effect without --evaluate or --eval_every_n_steps"
    ]
    assert (
        without_effect(RunOptions(keep_best=1, evaluate=False, eval_every_n_steps=5), defaults)
        == []
    )
