import io
from types import SimpleNamespace

import pytest

from tf_frame import InputInfo, Mode
from tf_frame.config.run_options import RunOptions
from tf_frame.runs.evaluation.evaluator import Evaluated
from tf_frame.runs.evaluation.progress import (
    EvaluationProgress,
    evaluate_watched,
    num_eval_steps,
    partial_note,
)
from tf_frame.runs.setup.run_context import RunObserver
from tf_frame.session.interrupts import Interrupted, Interrupts


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    clock = SimpleNamespace(now=1000.0, monotonic=lambda: clock.now)
    monkeypatch.setattr("tf_frame.runs.evaluation.progress.time", clock)
    return clock


@pytest.mark.parametrize(
    ("examples", "limit", "steps"),
    [(64, None, 8), (65, None, 9), (64, 3, 3), (64, 30, 8), (None, 3, 3), (None, None, None)],
)
def test_the_number_of_steps_follows_from_the_data_and_the_options(examples, limit, steps):
    info = InputInfo() if examples is None else InputInfo(num_examples={Mode.EVAL: examples})
    assert num_eval_steps(RunOptions(eval_batch_size=8, eval_steps=limit), info) == steps


def show_steps(progress, clock, count, secs):
    for _ in range(count):
        clock.now += secs
        progress.step()


def test_a_long_evaluation_has_a_line_every_half_minute(clock):
    lines = []
    progress = EvaluationProgress(100, report=lines.append, out=io.StringIO())
    show_steps(progress, clock, 100, 1)
    progress.close()
    assert lines == [f"evaluated {n} of 100 steps, 1.00 steps/s" for n in (30, 60, 90)]


@pytest.mark.parametrize("total", [None, 20])
def test_one_that_may_never_end_says_how_to_stop_it(clock, total):
    lines = []
    progress = EvaluationProgress(total, report=lines.append, out=io.StringIO())
    show_steps(progress, clock, 40, 1)
    (line,) = lines
    assert line.startswith("evaluated 30 steps" if total is None else "evaluated 30 of 20 steps")
    assert "Ctrl-C stops with the figures so far" in line and "--eval_steps N" in line


def test_a_terminal_has_a_bar_that_goes_away(clock):
    out, lines = Terminal(), []
    progress = EvaluationProgress(None, report=lines.append, out=out)
    show_steps(progress, clock, 40, 1)
    progress.close()
    assert lines == []
    assert "evaluate: " in out.getvalue()
    assert "evaluated 30 steps" in out.getvalue()
    assert out.getvalue().rpartition("evaluate: ")[2].split("\r")[-1].strip() == ""


def test_a_stopped_evaluation_reports_its_figures_and_raises():
    interrupts, lines = Interrupts(), []

    class Endless:
        config = RunOptions(eval_batch_size=8)
        source = SimpleNamespace(info=InputInfo(num_examples={Mode.EVAL: 64}))

        def evaluate(self, checkpoint, *, hooks, stop, after_step):
            after_step()
            assert not stop()
            interrupts.received = 2
            assert stop()
            metrics = {"loss": 0.00001, "image": b"x"}
            return Evaluated(metrics, None, 7, steps=1, stopped=True)

    observer = RunObserver(lines.append, interrupts, shows_progress=True)
    with pytest.raises(Interrupted):
        evaluate_watched(Endless(), "model.ckpt-7", observer)
    assert "\n".join(lines) == (
        "evaluation stopped after 1 step (--eval_steps 1 does as many); figures so far\n"
        "  loss  1.000e-05\n"
        "note: the evaluation saw 8 of 64 examples, in their order in the data, and need not be "
        "representative"
    )


# A full pass over data with damaged examples has fewer steps than their number says.
@pytest.mark.parametrize(
    ("examples", "limit", "steps", "overfit", "is_partial"),
    [
        *[(64, 2, 2, 0, True), (64, 8, 8, 0, False), (64, None, 7, 0, False)],
        *[(64, 8, 7, 0, False), (None, 2, 2, 0, False), (64, 2, 2, 2, False)],
    ],
)
def test_an_evaluation_cut_by_an_option_says_so(examples, limit, steps, overfit, is_partial):
    info = InputInfo() if examples is None else InputInfo(num_examples={Mode.EVAL: examples})
    evaluator = SimpleNamespace(
        config=RunOptions(eval_batch_size=8, overfit_batches=overfit),
        steps=limit,
        source=SimpleNamespace(info=info),
    )
    note = partial_note(evaluator, Evaluated({}, None, 7, steps=steps))
    assert (note or "").startswith("note: the evaluation saw 16 of 64") == is_partial
    assert bool(note) == is_partial
