"""HTML page of a report: one file without scripts, which needs no network.

    page(report) -> text of the file

From top to bottom: the figures of the step, hints, where the step goes, and then all that explains
it, the largest first.
"""

from __future__ import annotations

from tf_frame.profiling.report import html_resources as resources, html_time as time
from tf_frame.profiling.report.figure_texts import count_text, ms_text, percent_text
from tf_frame.profiling.report.figures import Hint, Report
from tf_frame.profiling.report.html_elements import Markup, element, join
from tf_frame.profiling.report.html_parts import section
from tf_frame.profiling.report.html_style import CSS
from tf_frame.text import readable_bytes

_SECTIONS = (
    time.phases,
    time.step_times,
    time.kinds_and_layers,
    time.operations,
    time.use_over_time,
    resources.clones_and_tasks,
    resources.hooks,
    resources.memory,
    resources.costs,
    time.types,
)


def page(report: Report) -> str:
    """Returns the page of a report."""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"Profile {report.run}"),
        element("style", Markup(CSS)),
    )
    parts = [_heading(report), _figures(report), _hints(report)]
    body = element("body", *parts, *(make(report) for make in _SECTIONS))
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _heading(report: Report) -> Markup:
    number = len(report.step.ms_of_steps)
    cores = f"{report.cores} core{'' if report.cores == 1 else 's'}"
    recorded = "1 recorded step" if number == 1 else f"{number} recorded steps"
    steps = f"{recorded}, {report.first_step} to {report.last_step}"
    line = f"{report.task} on {report.host}, {cores} · {steps}"
    if report.examples_per_step:
        line += f" · {report.examples_per_step} examples per step"
    if report.profiler_ms:
        line += f" · {ms_text(report.profiler_ms)} per step of profiling itself are left out"
    return join([element("h1", f"Profile {report.run}"), element("p", line, class_="soft")])


def _figures(report: Report) -> Markup:
    step = report.step
    spread = f"median step; p90 {ms_text(step.p90_ms)}, jitter {ms_text(step.jitter_ms)}"
    tiles = [
        (spread, ms_text(step.median_ms)),
        ("waits for input", percent_text(report.input_share)),
        ("hooks", percent_text(sum(each.share for each in report.hooks))),
    ]
    if report.examples_per_sec is not None:
        tiles.insert(1, ("examples per second", f"{report.examples_per_sec:,.3g}"))
    if report.memory:
        peak = max(row.peak_bytes for row in report.memory)
        tiles.append(("memory beside variables", readable_bytes(peak)))
    if report.costs:
        tiles.append(("parameters", count_text(report.costs[0].parameters)))
    return element("div", *(_tile(*each) for each in tiles), class_="tiles")


def _tile(name: str, value: str) -> Markup:
    return element("div", element("b", value), element("small", name), class_="tile")


def _hints(report: Report) -> Markup:
    if not report.hints:
        return element("div", "None of the usual causes of slow steps was found.", class_="good")
    return section("What makes the step slow", *map(_hint, report.hints))


def _hint(hint: Hint) -> Markup:
    before, option, after = _sentence(hint.remedy).partition(hint.option or "\0")
    advice = [before, element("code", option) if option else "", after]
    gain = f" (gains up to {percent_text(hint.severity)} of the step)" if hint.severity else ""
    return element(
        "div",
        element("b", _sentence(hint.text)),
        element("p", *advice, element("small", gain)),
        class_="hint",
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
