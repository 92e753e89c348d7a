"""Proofs are kept beside the profile, and worded as what was seen."""

import pytest

from tf_frame.profiling.report.contents import Proof
from tf_frame.profiling.report.proofs import proof_text, read_proofs, write_proofs

FIGURES = {"ratio": 1.314, "low": 1.26, "high": 1.36, "losses": "losses equal up to step 20"}
CHANGES = {"steps_per_loop": "10", "xla": "true"}
WORDS = "[--steps_per_loop=10 --xla=true]"


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        (
            {"verdict": "faster"},
            f"proved: 1.31x (1.26 to 1.36), losses equal up to step 20  {WORDS}",
        ),
        (
            {"verdict": "no gain"},
            f"no gain: 1.31x (1.26 to 1.36), losses equal up to step 20  {WORDS}",
        ),
        (
            {"verdict": "unclear"},
            f"unclear: 1.31x (1.26 to 1.36), losses equal up to step 20  {WORDS}",
        ),
        (
            {"verdict": "unclear", "ratio": None},
            f"unclear: the machine is too noisy for a figure  {WORDS}",
        ),
        (
            {"verdict": "no gain", "is_probe": True},
            f"it costs little: 1.31x (1.26 to 1.36) without it  {WORDS}",
        ),
        ({"verdict": "failed", "error": "no memory"}, f"failed: no memory  {WORDS}"),
        (
            {"verdict": "faster", "is_probe": True},
            "what it costs: 1.31x (1.26 to 1.36) without it; only you can remove it  " + WORDS,
        ),
    ],
)
def test_the_text_says_what_was_seen(facts, text):
    assert proof_text(Proof("small_steps", CHANGES, **{**FIGURES, **facts})) == text


def test_proofs_are_read_as_they_were_written(tmp_path):
    (tmp_path / "plugins" / "profile" / "run").mkdir(parents=True)
    proofs = (
        Proof("small_steps", CHANGES, "faster", **FIGURES, secs=9.5),
        Proof("slow_input", {}, "failed", error="no memory", is_probe=True),
    )
    assert read_proofs(str(tmp_path), "run") == ()
    write_proofs(str(tmp_path), "run", proofs)
    assert read_proofs(str(tmp_path), "run") == proofs


def test_a_damaged_file_does_not_hide_the_report(tmp_path, caplog):
    folder = tmp_path / "plugins" / "profile" / "run"
    folder.mkdir(parents=True)
    (folder / "proofs.json").write_text('{"proofs": [{"cause": 1}]}')
    assert read_proofs(str(tmp_path), "run") == ()
    assert "proofs.json is damaged: cause is 1" in caplog.text
