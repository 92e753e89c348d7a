"""`tf-frame tune`: the candidates, what is proved of them, and the file that is written."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import forked
from fake_tasks import wait_for
from slow_cases import slow
from tf_frame.cli import tune as module
from tf_frame.experiments.candidates import Candidate
from tf_frame.experiments.compare import Comparison, Losses
from tf_frame.experiments.ratio import Ratio
from tf_frame.experiments.trial import TrialError
from tf_frame.experiments.variant import Variant

LOOP = Candidate("steps_per_loop", Variant({"steps_per_loop": "10"}))
ARENAS = Candidate("allocator", Variant(environment={"MALLOC_ARENA_MAX": "1"}))
HEAP = Candidate("allocator", Variant(environment={"MALLOC_TRIM_THRESHOLD_": "9"}))
EQUAL = Losses(40, 0.0)


def faster(ratio, losses=EQUAL):
    return Comparison(Ratio(ratio, ratio - 0.04, ratio + 0.04), 8, 9.0, losses)


SAME = Comparison(Ratio(1.0, 0.98, 1.02), 8, 9.0, EQUAL)
NOISE = Comparison(Ratio(1.2, 0.8, 1.6), 8, 9.0, EQUAL)


class FakeTrial:
    """A trial without a process."""

    is_running = True

    def __init__(self, words):
        self.words = list(words)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        pass


@pytest.fixture
def tune(tf_frame, monkeypatch, tmp_path, toy_environment):
    """Tunes the toy with candidates whose comparisons are given, by the words that they add.

    Returns exit code, output, messages, and the words of the proofs, the last comparisons.
    """
    monkeypatch.syspath_prepend(toy_environment["PYTHONPATH"])
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(module, "Trial", FakeTrial)

    def tune(candidates, comparisons, *words):
        left, compared = iter(comparisons), []

        def compare(baseline, variant, *, secs):
            compared.append(variant.words[len(baseline.words) :])
            result = next(left)
            if isinstance(result, Exception):
                raise result
            return result

        monkeypatch.setattr(module, "compare", compare)
        monkeypatch.setattr(module, "find_candidates", lambda options, cores: iter(candidates))
        code, out, err = tf_frame("tune", "--plugin", "toy", *words)
        assert next(left, None) is None
        return code, out, err, compared

    return tune


def test_what_helps_is_proved_together_and_written(tune, tmp_path):
    candidates = [LOOP, ARENAS, HEAP]
    comparisons = [faster(1.2), faster(1.1), faster(1.3), faster(1.5, Losses(40, 1e-6))]
    code, out, _, compared = tune(candidates, comparisons, "--learning_rate", "0.5")
    assert code == 0
    # Of two allocators the faster one.
    both = ["--steps_per_loop=10", "--environment=MALLOC_TRIM_THRESHOLD_=9"]
    assert compared[-1] == both
    assert "MALLOC_ARENA_MAX=1: faster: 1.10x (1.06 to 1.14), losses equal up to step 40" in out
    assert "proved by two new processes: 1.50x (1.46 to 1.54), losses equal but for" in out
    assert out.endswith("train with it: tf-frame run --config tuned.yaml\n")
    text = (tmp_path / "tuned.yaml").read_text()
    assert text.startswith("# tf-frame tune on ") and "1.50x" in text.partition("\n")[0]
    written = yaml.safe_load(text)
    assert written["environment"] == ["MALLOC_TRIM_THRESHOLD_=9"]
    assert (written["steps_per_loop"], written["learning_rate"]) == (10, 0.5)


def test_if_all_together_are_not_faster_the_best_alone_may_be(tune, tmp_path):
    comparisons = [faster(1.2), faster(1.1), SAME, faster(1.19)]
    _, out, _, compared = tune([LOOP, HEAP], comparisons)
    assert compared[-1] == ["--steps_per_loop=10"]
    assert "not proved: 1.00x" in out
    assert yaml.safe_load((tmp_path / "tuned.yaml").read_text())["environment"] == []


@pytest.mark.parametrize("comparisons", [[SAME], [NOISE], [faster(1.2), SAME]])
def test_what_is_not_proved_is_not_written(tune, tmp_path, comparisons):
    code, out, _, _ = tune([LOOP], comparisons)
    assert code == 0 and "the defaults stay, and no file is written" in out
    assert not list(tmp_path.iterdir())


def test_a_noisy_machine_gets_no_figure(tune):
    _, out, _, _ = tune([LOOP], [NOISE])
    assert "--steps_per_loop=10: the machine is too noisy for a figure" in out


def test_other_numbers_only_if_allowed(tune, tmp_path):
    other = Losses(40, 0.1)
    _, out, _, _ = tune([LOOP], [faster(1.5, other)])
    assert "losses differ, by 1e-01" in out and not (tmp_path / "tuned.yaml").exists()
    bfloat16 = Candidate("precision", Variant({"mixed_precision": "bfloat16"}), False)
    _, _, _, compared = tune([bfloat16], [])
    assert not compared
    words = ["--allow_other_numbers", "--output", "mine.yaml"]
    tune([bfloat16], [faster(1.5, other), faster(1.4, other)], *words)
    assert yaml.safe_load((tmp_path / "mine.yaml").read_text())["mixed_precision"] == "bfloat16"


def test_a_candidate_that_cannot_train_is_left_out(tune):
    _, out, _, _ = tune([LOOP, HEAP], [TrialError("no memory (exit code 1)"), SAME])
    assert "--steps_per_loop=10: cannot train: no memory (exit code 1)" in out


def test_a_training_that_fails_as_it_is_is_the_error(tune, monkeypatch):
    monkeypatch.setattr(FakeTrial, "is_running", False)
    code, _, err, _ = tune([LOOP], [TrialError("no such file (exit code 2)")])
    assert (code, err) == (1, "tf-frame: no such file (exit code 2)\n")


def test_the_time_bounds_the_trials(tune, monkeypatch):
    now = iter(range(0, 10_000, 100))
    monkeypatch.setattr(module.time, "monotonic", lambda: next(now))
    _, out, _, compared = tune([LOOP, HEAP, ARENAS], [SAME], "--time", "200")
    assert len(compared) == 1
    assert "the time is over (--time); not tried: MALLOC_TRIM_THRESHOLD_=9, MALLOC_ARENA" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--time", "1"], "--time: 1.0 is out of range; allowed: 10 or more"),
        (["--output", "."], "--output . is a folder; give a file"),
        (["--output", "no/such.yaml"], "--output no/such.yaml: there is no folder"),
        (["--learning_rat", "1"], "unknown option --learning_rat; did you mean --learning_rate?"),
    ],
)
def test_wrong_options_are_refused_before_any_trial(tune, words, message):
    code, _, err, compared = tune([LOOP], [], *words)
    assert code == 2 and message in err and not compared


def test_help(tf_frame):
    code, out, _ = tf_frame("tune", "--help")
    assert code == 0 and "allow_other_numbers" in out and "--output" in out
    assert tf_frame("tune")[0] == 2


@pytest.mark.process
@pytest.mark.parametrize(("signum", "code"), [(signal.SIGINT, 130), slow(signal.SIGTERM, 143)])
def test_a_signal_ends_all_processes(toy_environment, tmp_path, signum, code):
    (tmp_path / "temporary").mkdir()
    environment = {**toy_environment, "TMPDIR": str(tmp_path / "temporary")}
    command = [sys.executable, "-m", "tf_frame", "tune", "--plugin", "toy"]
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = forked.Popen(command, env=environment, cwd=tmp_path, **output)
    assert "tries changes" in process.stdout.readline()
    wait_for(lambda: len(children(process.pid)) == 2)
    trials = children(process.pid)
    process.send_signal(signum)
    _, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert err.endswith(f"{signum.name}: stopped; nothing is written\n")
    assert trials and not any(Path(f"/proc/{pid}").exists() for pid in trials)
    assert not list((tmp_path / "temporary").iterdir()) and not (tmp_path / "tuned.yaml").exists()


def children(pid):
    """The processes that a process has started, and that have not ended."""
    texts = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for text in texts for child in text.read_text().split()]
