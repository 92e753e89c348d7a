"""`tf-frame profile --prove`: which changes are tried, and what is said and written of them."""

import json
import subprocess
import sys

import pytest
import yaml

import forked
from tf_frame.cli.profile import prove as module
from tf_frame.experiments.compare import Comparison, Losses
from tf_frame.experiments.ratio import Ratio
from tf_frame.experiments.trial import TrialError
from tf_frame.profiling.report.contents import Hint
from tf_frame.profiling.report.proofs import read_proofs

EQUAL = Losses(40, 0.0)
FASTER = Comparison(Ratio(1.31, 1.26, 1.36), 8, 9.0, EQUAL)
SAME = Comparison(Ratio(1.0, 0.98, 1.02), 8, 9.0, EQUAL)


def hint(cause, **changes):
    return Hint(cause, 0.3, "", "it is slow", "change it", "", **changes)


@pytest.fixture
def prove(tmp_path, monkeypatch, capsys, toy_environment):
    """Proves hints with comparisons that are given; returns the changes tried, and the text."""
    monkeypatch.syspath_prepend(toy_environment["PYTHONPATH"])
    run = tmp_path / "plugins" / "profile" / "run"
    run.mkdir(parents=True)

    def prove(hints, comparisons):
        tried, left = [], iter(comparisons)

        def compare(words, variant, secs):
            tried.append(dict(variant.options))
            result = next(left)
            if isinstance(result, Exception):
                raise result
            return result

        monkeypatch.setattr(module, "_compare", compare)
        words = ["--plugin", "toy", "--learning_rate", "0.5"]
        module.prove(words, hints, model_dir=str(tmp_path), run="run", secs=9)
        assert next(left, None) is None
        return tried, capsys.readouterr().out

    return prove


NOISE = Comparison(Ratio(1.2, 0.8, 1.6), 8, 9.0, EQUAL)
INPUT = {"overfit_batches": "1"}
LOOP, SUMMARIES = {"steps_per_loop": "10"}, {"save_summaries_steps": "50"}


def test_a_gain_must_show_twice_and_what_helped_is_tried_together(prove, tmp_path):
    second = Comparison(Ratio(1.2, 1.1, 1.3), 8, 9.0, EQUAL)
    both = Comparison(Ratio(1.5, 1.4, 1.6), 8, 9.0, Losses(40, 3e-6))
    hints = [hint("small_steps", changes=LOOP), hint("summaries", changes=SUMMARIES)]
    tried, text = prove(hints, [FASTER, second, FASTER, FASTER, SAME, both, both])
    together = {**LOOP, **SUMMARIES}
    assert tried == [LOOP] * 2 + [SUMMARIES] * 2 + [INPUT] + [together] * 2
    # The figure is that of the second time.
    assert "small_steps: proved: 1.20x (1.10 to 1.30), losses equal up to step 40" in text
    assert "together: proved: 1.50x (1.40 to 1.60), losses equal but for rounding" in text
    assert text.endswith(f"tf-frame run --config {tmp_path}/proved.yaml\n")
    written = yaml.safe_load((tmp_path / "proved.yaml").read_text())
    assert written["plugin"] == "toy" and written["learning_rate"] == 0.5
    assert (written["steps_per_loop"], written["save_summaries_steps"]) == (10, 50)
    causes = [proof.cause for proof in read_proofs(str(tmp_path), "run")]
    assert causes == ["small_steps", "summaries", "the input", "together"]


def test_a_gain_that_does_not_come_again_is_none(prove, tmp_path):
    _, text = prove([hint("small_steps", changes=LOOP)], [FASTER, SAME, SAME])
    assert "small_steps: no gain: 1.00x (0.98 to 1.02), losses equal up to step 40" in text
    assert "no change of an option is proved to help" in text
    # What an input computes beside the model is in no hint.
    assert "the input: it costs little: 1.00x (0.98 to 1.02) without it" in text
    assert not (tmp_path / "proved.yaml").exists()


def test_what_only_the_user_can_do_is_probed_or_left(prove, tmp_path):
    hints = [hint("slow_input", probe=INPUT), hint("host_operation")]
    tried, text = prove(hints, [FASTER, FASTER])
    assert tried == [INPUT] * 2
    assert "slow_input: what it costs: 1.31x (1.26 to 1.36) without it" in text
    assert "host_operation: not tried, for only you can change it" in text
    assert not (tmp_path / "proved.yaml").exists()


def test_what_a_cause_costs_is_tried_where_its_option_does_not_help(prove):
    slow = hint("slow_input", changes=LOOP, probe=INPUT)
    tried, text = prove([slow], [SAME, FASTER, FASTER])
    assert tried == [LOOP, INPUT, INPUT]
    assert "slow_input: no gain: 1.00x" in text and "slow_input: what it costs: 1.31x" in text
    tried, _ = prove([slow], [FASTER, FASTER, SAME])
    assert tried == [LOOP, LOOP, INPUT]  # Of the whole input, after all hints.


def test_a_trial_that_fails_does_not_end_the_others(prove):
    hints = [hint("small_steps", changes=LOOP), hint("summaries", changes=SUMMARIES)]
    _, text = prove(hints, [TrialError("no memory (exit code 1)"), SAME, NOISE])
    assert "small_steps: failed: no memory (exit code 1)  [--steps_per_loop=10]" in text
    assert "summaries: no gain" in text
    assert "the input: unclear: the machine is too noisy for a figure" in text


@pytest.mark.slow
@pytest.mark.process
def test_a_planted_cause_is_proved(toy_environment, tmp_path):
    words = ["--plugin", "toy", "--save_checkpoint_steps", "1", "--model_dir", "found"]
    words += ["--prove", "--prove_secs", "8", "--json"]
    finished = forked.run(
        [sys.executable, "-m", "tf_frame", "profile", *words],
        env=toy_environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=200,
    )
    assert finished.returncode == 0, finished.stderr
    proofs = {proof["cause"]: proof for proof in json.loads(finished.stdout)["proofs"]}
    proof = proofs["frequent_checkpoints"]
    assert proof["verdict"] == "faster" and proof["low"] > 2
    assert proof["losses"].startswith("losses equal up to")
    written = yaml.safe_load((tmp_path / "found" / "proved.yaml").read_text())
    assert written["save_checkpoint_secs"] == 600
