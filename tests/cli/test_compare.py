"""`tf-frame compare`: text, page, JSON, and wrong words."""

import json

import pytest

import made_up_runs
from tf_frame.cli import main as command_line


@pytest.fixture
def folders(tmp_path):
    pid = made_up_runs.ended_process()
    return [
        made_up_runs.make_run(
            tmp_path / f"run-{n}",
            pid=pid,
            config=f"plugin: deeplab\nrandom_seed: {n}\n",
            evaluations=[(20, 0.1, 0.9 + n / 100)],
            result={},
        )
        for n in (1, 2)
    ]


@pytest.fixture
def call(capsys):
    """Calls the command; returns its exit code, output and errors."""

    def call(*words):
        code = command_line.main(["compare", *words])
        return code, *capsys.readouterr()

    return call


def test_the_verdict_is_the_end_of_the_text(call, folders):
    code, out, _ = call(*folders, "--metric", "mean_iou")
    assert code == 0
    assert "A, B differ in their seeds only, so by noise: mean_iou 0.9100 to 0.9200" in out


def test_json_has_the_facts(call, folders):
    code, out, _ = call(*folders, "--json", "--metric", "loss")
    facts = json.loads(out)
    assert code == 0 and facts["runs"] == {"A": folders[0], "B": folders[1]}
    assert facts["options"] == {"random_seed": {"A": "1", "B": "2"}}
    assert (facts["metric"], facts["step"]) == ("loss", 20)
    assert facts["metrics"]["B"]["mean_iou"] == 0.92
    assert facts["settings"] == [{"name": "", "runs": ["A", "B"], "mean": 0.1, "deviation": 0.0}]
    assert len(facts["verdict"]) == 1 and facts["best"] == []


def test_the_page_is_written_and_named(call, folders, tmp_path):
    code, _, err = call(*folders, "--html", str(tmp_path / "page.html"))
    assert code == 0 and err == f"wrote {tmp_path / 'page.html'}\n"
    assert "A, B differ in their seeds only" in (tmp_path / "page.html").read_text()


def test_wrong_words_are_refused_in_a_line(call, folders, tmp_path):
    for words, message in (
        (folders[:1], "give at least two folders of runs"),
        ([*folders, "--html", str(tmp_path)], "is a folder; give a file"),
        ([folders[0], str(tmp_path / "none")], "none is not the folder of a run"),
        ([*folders, "--metric", "nothing"], "no run has evaluated it; there are loss, mean_iou"),
        ([*folders, "--mode", "up"], "--mode"),
    ):
        code, _, err = call(*words)
        assert code == 2 and message in err and len(err.splitlines()) == 1


def test_help_comes_without_tensorflow(call):
    code, out, _ = call("--help")
    assert code == 0 and "--html" in out
