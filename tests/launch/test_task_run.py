"""Consequences of the end of a task."""

import pytest

from tf_frame.launch.task_run import Outcome, end_text, judge_exit_code


@pytest.mark.parametrize(
    ("code", "outcome", "text"),
    [
        (0, Outcome.DONE, "ended well"),
        (1, Outcome.FAILED, "ended with exit code 1"),
        (2, Outcome.FAILED, "ended with exit code 2"),
        (126, Outcome.FAILED, "ended with exit code 126"),
        (127, Outcome.RESTART, "ended with exit code 127"),
        (128, Outcome.RESTART, "ended with exit code 128"),
        (137, Outcome.RESTART, "ended with exit code 137"),
        (138, Outcome.REJOIN, "lost the other tasks"),
        (-9, Outcome.RESTART, "was killed by SIGKILL"),
        (-63, Outcome.RESTART, "was killed by signal 63"),
    ],
)
def test_outcomes(code, outcome, text):
    assert (judge_exit_code(code), end_text(code)) == (outcome, text)
