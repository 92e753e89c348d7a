"""`tf_frame_legacy.contrib.rnn` makes what TensorFlow 1.15's tf.contrib.rnn made."""

import inspect
import json
import types
import warnings
from pathlib import Path

import pytest

from slow_cases import slow
from tf_frame_legacy.contrib import cudnn_rnn, rnn

from .cases import CASES, made_by

TABLE = json.loads((Path(__file__).parent / "recorded.json").read_text(encoding="utf-8"))
NAMES = types.SimpleNamespace(**{**vars(cudnn_rnn), **vars(rnn)})
DEFAULT = ("decoder", "fused_from_state", "GRUBlockCellV2", "LayerNormBasicLSTMCell")


def check(case):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        actual, expected = made_by(case, NAMES), dict(TABLE[case])
    for numbers in ("values", "gradients"):
        for value, recorded in zip(actual.pop(numbers), expected.pop(numbers), strict=True):
            assert value == pytest.approx(recorded, rel=1e-4, abs=1e-5), numbers
    assert actual == expected


@pytest.mark.parametrize("case", [case if case in DEFAULT else slow(case) for case in CASES])
def test_equals_the_original(case):
    check(case)


def test_the_table_has_every_cell():
    with open(inspect.getsourcefile(CASES["decoder"]), encoding="utf-8") as source:
        cases = source.read()
    # The base classes, and ConvLSTMCell, which Conv2DLSTMCell is with one argument more.
    bases = {"RNNCell", "LayerRNNCell", "LSTMBlockWrapper", "FusedRNNCell", "ConvLSTMCell"}
    cells = {name for name in vars(rnn) if name.endswith(("Cell", "Wrapper", "RNN"))} - bases
    assert len(cells) >= 39
    assert [name for name in sorted(cells) if f"rnn.{name}" not in cases] == []


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_equals_the_original_as_in_old_programs(case, reference_variables, control_flow_of_v1):
    check(case)
