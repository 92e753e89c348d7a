"""`tf_frame_legacy.contrib.rnn` makes what TensorFlow 1.15's tf.contrib.rnn made."""

import json
import types
import warnings
from pathlib import Path

import pytest

from tf_frame_legacy.contrib import cudnn_rnn, rnn

from .cases import CASES, made_by

TABLE = json.loads((Path(__file__).parent / "recorded.json").read_text(encoding="utf-8"))
NAMES = types.SimpleNamespace(**{**vars(cudnn_rnn), **vars(rnn)})


def check(case):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        actual, expected = made_by(case, NAMES), dict(TABLE[case])
    for numbers in ("values", "gradients"):
        for value, recorded in zip(actual.pop(numbers), expected.pop(numbers), strict=True):
            assert value == pytest.approx(recorded, rel=1e-4, abs=1e-5), numbers
    assert actual == expected


@pytest.mark.parametrize("case", CASES)
def test_equals_the_original(case):
    check(case)
