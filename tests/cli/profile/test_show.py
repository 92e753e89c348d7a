import json
import sys

import pytest

from hand_made_steps import Recording
from tf_frame.cli.profile import show
from tf_frame.errors import ConfigError
from tf_frame.profiling.step_profile import to_bytes

RUN = "2026_01_31_12_00_00_step_100"


@pytest.fixture
def model_dir(tmp_path):
    """A run of two tasks."""
    folder = tmp_path / "plugins" / "profile" / RUN
    folder.mkdir(parents=True)
    for task, ms in [("worker_0", 10), ("worker_1", 20)]:
        recording = Recording(task=task).step(ms, ops=[("net/Conv2D", "Conv2D", 0, ms)])
        (folder / f"here_{task}.steps.json.gz").write_bytes(to_bytes(recording.profile()))
    return tmp_path


@pytest.fixture
def shown(capsys):
    """Runs the command, which has to succeed; returns its output."""

    def shown(*words):
        assert show.main([*map(str, words)]) == 0
        return capsys.readouterr().out

    return shown


def test_one_table_has_all_rows(shown, tmp_path):
    folder = tmp_path / "plugins" / "profile" / RUN
    folder.mkdir(parents=True)
    ops = [(f"net/op{i}", "Relu", i, i + 1) for i in range(310)]
    profile = Recording().step(310, ops=ops).profile()
    (folder / "here_worker_0.steps.json.gz").write_bytes(to_bytes(profile))
    assert len(shown(tmp_path, "--by", "op").splitlines()) == 4 + 310
    assert "Operations that take longest (first 10 of 310)" in shown(tmp_path).splitlines()
    assert len(json.loads(shown(tmp_path, "--json"))["operations"]) == 301


def test_a_page_is_written_beside_the_text(shown, model_dir, monkeypatch, tmp_path):
    pages = []

    class Html:
        @staticmethod
        def html_page(report, folder):
            pages.append(report)
            return f"<p>ü {report.task} in {folder}</p>"

    monkeypatch.setitem(sys.modules, "tf_frame.profiling.report.html", Html)
    path = tmp_path / "page.html"
    assert shown(model_dir, "--html", path, "--task", "worker_1").startswith("A step takes")
    assert path.read_text("utf-8") == f"<p>ü worker_1 in {model_dir.name}</p>"
    assert [report.task for report in pages] == ["worker_1"]


def test_the_newest_profile_a_task_a_table_and_json(shown, model_dir):
    lines = shown(model_dir).splitlines()
    assert lines[0] == "A step takes 10.0 ms (median)."
    assert "Where the time goes (mean step: 10.0 ms)" in lines and "Tasks" in lines
    second = shown(model_dir, "--task", "worker_1", "--run", RUN)
    assert second.startswith("A step takes 20.0 ms (median).")
    assert shown(model_dir, "--by", "type").splitlines()[2:] == [
        "Types of operations",
        "   SHARE     MS  CALLS  TYPE",
        "  100.0%  10.00      1  Conv2D",
    ]
    report = json.loads(shown(model_dir, "--json"))
    assert (report["run"], report["task"], report["step"]["median_ms"]) == (RUN, "worker_0", 10)
    assert [task["task"] for task in report["tasks"]] == ["worker_0", "worker_1"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("a b", "takes one folder, MODEL_DIR; given: a b"),
        ("--json", "takes one folder, MODEL_DIR; given: none"),
        ("a --jason", "unknown option --jason; did you mean --json?"),
        ("a --by ops", "did you mean 'op'?"),
        ("/none", "/none: there is no such folder"),
        ("a --html /none/page.html", "--html /none/page.html: there is no folder /none"),
        ("a --html /tmp", "--html /tmp is a folder; give a file"),
    ],
)
def test_wrong_words_are_refused(words, message):
    with pytest.raises(ConfigError) as error:
        show.main(words.split())
    assert message in str(error.value)
