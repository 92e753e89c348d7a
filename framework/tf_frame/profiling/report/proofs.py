"""Keeps the proofs of a profile, trials of its hints' changes, in its folder; words them."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from typing import Any

from tf_frame.profiling.report.contents import Proof
from tf_frame.side_files import as_object, from_json, read_or_set_aside, write_json

_FILE = "proofs.json"
FASTER, FAILED = "faster", "failed"


def write_proofs(model_dir: str, run: str, proofs: Sequence[Proof]) -> None:
    """Writes the proofs of a profile into its folder."""
    write_json(_path(model_dir, run), {"proofs": [dataclasses.asdict(proof) for proof in proofs]})


def read_proofs(model_dir: str, run: str) -> tuple[Proof, ...]:
    """Returns the proofs of a profile; none without the file, or if it is damaged."""
    return read_or_set_aside(_path(model_dir, run), _parse) or ()


def _parse(content: Any) -> tuple[Proof, ...]:
    return tuple(from_json(Proof, part) for part in as_object(content)["proofs"])


def _path(model_dir: str, run: str) -> str:
    return os.path.join(os.path.expanduser(model_dir), "plugins", "profile", run, _FILE)


def proof_text(proof: Proof) -> str:
    """Returns the result of a trial in a line, with the words that it changed."""
    words = " ".join(f"--{name}={value}" for name, value in proof.changes.items())
    return f"{_result(proof)}  [{words}]"


def _result(proof: Proof) -> str:
    if proof.verdict == FAILED:
        return f"failed: {proof.error}"
    if proof.ratio is None:
        return "unclear: the machine is too noisy for a figure"
    figures = f"{proof.ratio:.2f}x ({proof.low:.2f} to {proof.high:.2f})"
    if proof.is_probe and proof.verdict == FASTER:
        return f"what it costs: {figures} without it; only you can remove it"
    if proof.is_probe:
        return f"it costs little: {figures} without it"
    word = "proved" if proof.verdict == FASTER else proof.verdict
    return f"{word}: {figures}, {proof.losses}"
