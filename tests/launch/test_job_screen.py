"""The screen that the tasks of a job share."""

import io

import pytest

from tf_frame.launch.job import Task
from tf_frame.launch.job_screen import JobScreen

CHIEF, WORKER = Task("chief"), Task("worker")


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "20")


def test_a_line_that_another_task_has_shown_is_not_shown_again():
    out = io.StringIO()
    screen = JobScreen([CHIEF, WORKER], out)
    assert screen.task_line(CHIEF, "hello")
    assert not screen.task_line(WORKER, "hello")
    assert screen.task_line(CHIEF, "hello")
    assert screen.task_line(WORKER, "I am another")
    assert not screen.task_line(WORKER, "")
    assert out.getvalue() == "[chief-0] hello\n[chief-0] hello\n[worker-0] I am another\n"
    assert screen.shown == 3


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("W0000 00:00:1795.05 3713 port.cc:153] slow", "W0000 00:00:1796.1  99 port.cc:153] slow"),
        ("2026-01-31 12:00:00.1: I x] y", "2026-01-31 12:00:01.2: I x] y"),
    ],
)
def test_the_time_in_a_log_line_makes_it_no_other_line(first, second):
    screen = JobScreen([CHIEF, WORKER], io.StringIO())
    assert screen.task_line(CHIEF, first)
    assert not screen.task_line(WORKER, second)


def test_only_the_last_thousands_of_lines_are_remembered():
    screen = JobScreen([CHIEF, WORKER], io.StringIO())
    for number in range(6000):
        screen.task_line(CHIEF, str(number))
    assert not screen.task_line(WORKER, "5999")
    assert screen.task_line(WORKER, "0")


def test_colours_on_a_terminal(monkeypatch):
    out = Terminal()
    screen = JobScreen([CHIEF, WORKER], out)
    screen.task_line(CHIEF, "a")
    screen.task_line(WORKER, "b")
    assert out.getvalue() == "\033[36m[chief-0]\033[0m a\n\033[33m[worker-0]\033[0m b\n"
    monkeypatch.setenv("NO_COLOR", "1")
    plain = Terminal()
    JobScreen([CHIEF], plain).task_line(CHIEF, "a")
    assert plain.getvalue() == "[chief-0] a\n"


def test_progress_stays_below_the_lines_of_a_terminal():
    out = Terminal()
    screen = JobScreen([], out)
    screen.progress("step 1")
    screen.progress("step 1")
    screen.say("a note")
    screen.progress("step 2 of a job with many workers")
    screen.end_progress()
    assert out.getvalue() == ("\r\033[Kstep 1\r\033[Ka note\nstep 1\r\033[Kstep 2 of a job wit\n")


def test_progress_elsewhere_is_lines(monkeypatch):
    out = io.StringIO()
    screen = JobScreen([], out)
    screen.progress("step 1")
    screen.end_progress()
    assert out.getvalue() == "step 1\n"
    monkeypatch.setenv("TERM", "dumb")
    assert not JobScreen([], Terminal()).is_terminal
