import os
import sys
from types import SimpleNamespace

import pytest

from tf_frame.cli import run
from tf_frame.cli.option_help import group_text
from tf_frame.cli.screen import emphasised, without_chatter
from tf_frame.config.option import Option
from tf_frame.config.run_options import RunOptions
from tf_frame.config.yaml_file import Settings
from tf_frame.text import columns


def test_columns_are_as_wide_as_their_widest_cell():
    text = columns([("a", "bb", "c"), ("aaaa", "b", "")], indent=1)
    assert text.splitlines() == [" a     bb  c", " aaaa  b"]


def test_no_rows_are_no_text():
    assert columns([]) == ""


def test_emphasis_is_for_terminals_only(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert emphasised("x") == "\033[1mx\033[0m"
    monkeypatch.setenv("NO_COLOR", "1")
    assert emphasised("x") == "x"
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: False)
    assert emphasised("x") == "x"


def test_help_shows_type_choices_range_and_default():
    options = [
        Option("size", int, 3, "how big", min=1, max=9),
        Option("kind", str, "a", "which", choices=("a", "b")),
        Option("loud", bool, False, "noise"),
    ]
    text = group_text("Things", options, {"size": 4})
    assert text.splitlines() == [
        "Things:",
        "  --size INT",
        "      how big (1 to 9) [4]",
        "  --kind a|b",
        "      which [a]",
        "  --[no]loud",
        "      noise [false]",
    ]


CHATTER = """\
WARNING: All log messages before absl::InitializeLog() is called are written to STDERR
I0000 00:00:1795232402.054472    3713 port.cc:153] oneDNN custom operations are on.
2026-01-31 12:00:00.000000: I tensorflow/core/platform/cpu_feature_guard.cc:210] AVX2
"""


def test_chatter_is_dropped_and_the_rest_passed_on(capfd):
    with without_chatter(None):
        os.write(2, CHATTER.encode() + b"a plugin has something to say\n")
    assert capfd.readouterr().err == "a plugin has something to say\n"


def test_chatter_stays_with_verbosity(capfd):
    with without_chatter("info"):
        os.write(2, CHATTER.encode())
    assert capfd.readouterr().err == CHATTER


def test_what_was_written_before_an_error_is_not_lost(capfd):
    with pytest.raises(KeyError), without_chatter(None):
        os.write(2, b"the reason\n")
        raise KeyError
    assert capfd.readouterr().err == "the reason\n"


def test_other_versions_than_the_configuration_was_written_with_are_noted():
    file = Settings(versions={"tf-frame": "0.1", "gone": "1"})
    line = SimpleNamespace(file=file, defaults=dict)
    setup = SimpleNamespace(config=RunOptions(), versions=lambda: {"tf-frame": "0.2", "new": "1"})
    assert run._notes(line, setup) == [
        "note: the configuration was written with tf-frame 0.1, this is 0.2"
    ]
