"""The verdict of a comparison: which setting is better, and whether that may be noise."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from tf_frame.runs.comparison.noise import LEVEL, Noise, difference_p, pooled_noise
from tf_frame.runs.comparison.settings import SEED, Setting
from tf_frame.shell_text import shell_word
from tf_frame.text import figure, short


@dataclasses.dataclass(frozen=True)
class Verdict:
    """Sentences for people, and the setting that is proved to be the best.

    Attributes:
      lines: the sentences.
      best: the setting that is better than every other by more than noise; None: there is none.
    """

    lines: Sequence[str]
    best: Setting | None = None


def judge(settings: Sequence[Setting], metric: str, *, rises: bool | None) -> Verdict:
    """Compares the settings by the means of a metric.

    Args:
      settings: the settings; those without values are left out.
      metric: name of the metric.
      rises: whether the largest value is the best; None: not known.
    """
    settings = [setting for setting in settings if setting.values]
    noise = pooled_noise([setting.values for setting in settings])
    lines = [_noise_line(setting, metric) for setting in settings if len(setting.values) > 1]
    if len(settings) < 2:
        return Verdict(lines or [_no_difference(settings, metric)])
    ranked = sorted(settings, key=lambda setting: setting.mean, reverse=rises is not False)
    first, *others = ranked
    if noise is None or not noise.deviation:
        unknown = _unknown_noise(first, others[0], metric, rises)
        return Verdict([*lines, unknown, _seeds_hint(settings)])
    # The best one was chosen by the same values: any of the pairs might have been it (Bonferroni).
    pairs = len(settings) * (len(settings) - 1) // 2
    chances = [min(1.0, pairs * _p(first, setting, noise)) for setting in others]
    word = "above" if rises is None else "better than"
    lines += [
        _difference_line(first, setting, p, word)
        for setting, p in zip(others, chances, strict=True)
    ]
    if max(chances) >= LEVEL:
        lines.append(_seeds_hint([first, *others]))
    is_proved = rises is not None and all(p < LEVEL for p in chances)
    return Verdict(lines, first if is_proved else None)


def _no_difference(settings: Sequence[Setting], metric: str) -> str:
    if not settings:
        return f"no run has the metric {metric}"
    value = figure(settings[0].mean)
    return (
        f"there is one value of {metric} to compare, {value}: of runs with the same options and "
        "seed one counts"
    )


def _p(one: Setting, other: Setting, noise: Noise) -> float:
    counts = (len(one.values), len(other.values))
    return difference_p(one.mean - other.mean, noise, counts)


def _noise_line(setting: Setting, metric: str) -> str:
    spread = f"{figure(min(setting.values))} to {figure(max(setting.values))}"
    return (
        f"{setting.labels} differ in their seeds only, so by noise: {metric} {spread}, mean "
        f"{figure(setting.mean)}, standard deviation {figure(setting.deviation or 0.0)}"
    )


def _difference_line(one: Setting, other: Setting, p: float, word: str) -> str:
    figures = f"{figure(one.mean)} against {figure(other.mean)}"
    chance = "p < 0.001" if p < 0.001 else f"p = {p:.3f}"
    if p < LEVEL:
        return (
            f"{_called(one)} {_is(one)} {word} {_called(other)}: {figures}, "
            f"more than noise ({chance})"
        )
    return (
        f"{_called(one)} {_is(one)} not proved to be {word} {_called(other)}: {figures} "
        f"may be noise ({chance})"
    )


def _unknown_noise(first: Setting, second: Setting, metric: str, rises: bool | None) -> str:
    if first.mean == second.mean:
        return (
            f"{_called(first)} and {_called(second)} have the same {metric}, {figure(first.mean)}"
        )
    word = "ahead of" if rises is not None else "above"
    return (
        f"{_called(first)} {_is(first)} {word} {_called(second)} by "
        f"{figure(abs(first.mean - second.mean))} in {metric}; whether that is noise cannot be "
        "told without different seeds of a setting"
    )


def _seeds_hint(settings: Sequence[Setting]) -> str:
    """Returns the command that trains a setting with a seed that it does not have."""
    setting = min(settings, key=lambda each: len(each.values))
    run = setting.runs[0]
    seed = 1 + max(int(each.options.get(SEED) or 1) for each in setting.runs)
    config, folder = (shell_word(f"{run.name}{end}") for end in ("/config.yaml", f"-seed-{seed}"))
    return (
        "more seeds of each setting tell more, such as: tf-frame run "
        f"--config {config} --{SEED} {seed} --model_dir {folder}"
    )


def _is(setting: Setting) -> str:
    return "is" if len(setting.runs) == 1 else "are"


def _called(setting: Setting) -> str:
    return f"{setting.labels} ({short(setting.name)})" if setting.name else setting.labels


def sentences(verdict: Verdict) -> Iterator[str]:
    """Yields the sentences, each with a capital letter."""
    for line in verdict.lines:
        yield line[:1].upper() + line[1:]
