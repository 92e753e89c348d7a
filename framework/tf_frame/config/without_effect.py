"""Options that were given and have no effect beside the others: mostly slips of typing."""

from __future__ import annotations

from collections.abc import Callable

from tf_frame.config.run_options import RunOptions

_Rule = Callable[[RunOptions, Callable[..., list[str]]], list[str]]


def _warm_start(config: RunOptions, changed: Callable[..., list[str]]) -> list[str]:
    names = [name for name in vars(config) if name.startswith("warm_start_")]
    return [] if config.warm_start_from else changed(*names)


def _averages(config: RunOptions, changed: Callable[..., list[str]]) -> list[str]:
    names = ("moving_average_num_updates", "eval_moving_averages")
    return [] if config.moving_average_decay is not None else changed(*names)


def _sync(config: RunOptions, changed: Callable[..., list[str]]) -> list[str]:
    if config.sync_replicas:
        return []
    aggregated = config.batch_size_scope == "aggregated"
    return changed("replicas_to_aggregate") + (["batch_size_scope"] if aggregated else [])


def _summaries(config: RunOptions, changed: Callable[..., list[str]]) -> list[str]:
    names = ("summarize_gradients", "summarize_variables", "loss_average_decay")
    return [] if config.writes_summaries else changed(*names)


def _best(config: RunOptions, changed: Callable[..., list[str]]) -> list[str]:
    return [] if config.keep_best else changed("best_metric", "best_mode")


def _profile(config: RunOptions, changed: Callable[..., list[str]]) -> list[str]:
    profiles = config.profile_at_step or config.profile_every_n_steps
    return [] if profiles else changed("profile_num_steps", "profile_all_workers")


def _late_profile(config: RunOptions, changed: Callable[..., list[str]]) -> list[str]:
    del changed
    steps = config.profile_at_step
    return ["profile_at_step"] if steps and min(steps) > config.max_steps else []


def _nothing_best(config: RunOptions, changed: Callable[..., list[str]]) -> list[str]:
    evaluated = config.evaluate or config.eval_every_n_steps
    return [] if evaluated else changed("keep_best")


def _trace(config: RunOptions, changed: Callable[..., list[str]]) -> list[str]:
    names = ("trace_gzip", "trace_memory", "trace_dataflow")
    return [] if config.trace_every_n_steps else changed(*names)


def _placement(config: RunOptions, changed: Callable[..., list[str]]) -> list[str]:
    return [] if config.num_ps_tasks > 1 else changed("placement")


def _warmup(config: RunOptions, changed: Callable[..., list[str]]) -> list[str]:
    return [] if config.warmup_steps else changed("warmup", "warmup_learning_rate")


def _too_late(config: RunOptions, changed: Callable[..., list[str]]) -> list[str]:
    del changed
    late = config.quantize_delay_step >= config.max_steps
    return ["quantize_delay_step"] if late else []


_RULES: tuple[tuple[_Rule, str], ...] = (
    (_warm_start, "without --warm_start_from"),
    (_averages, "without --moving_average_decay"),
    (_sync, "without --sync_replicas"),
    (_summaries, "with --save_summaries_steps 0"),
    (_best, "without --keep_best"),
    (_profile, "without --profile_at_step or --profile_every_n_steps"),
    (_late_profile, "beyond --max_steps"),
    (_nothing_best, "without an evaluation"),
    (_trace, "without --trace_every_n_steps"),
    (_placement, "with less than two parameter servers (--num_ps_tasks)"),
    (_warmup, "without --warmup_steps"),
    (_too_late, "unless it is below --max_steps"),
)


def without_effect(config: RunOptions, defaults: RunOptions) -> list[str]:
    """Says, a line each, which options change nothing because of the others.

    Args:
      config: the options.
      defaults: what they would be if nobody had said anything.
    """

    def changed(*names: str) -> list[str]:
        return [name for name in names if getattr(config, name) != getattr(defaults, name)]

    return [
        f"--{', --'.join(names)} {'have' if len(names) > 1 else 'has'} no effect {reason}"
        for rule, reason in _RULES
        if (names := rule(config, changed))
    ]
