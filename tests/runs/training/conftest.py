"""Runs of the toy model inside this process."""

import pytest

from tf_frame.plugin import Mode
from tf_frame.testing.toy import ToyInput, ToyModel, make_setup, run_setup


@pytest.fixture
def go(tmp_path, capsys):
    """Trains the toy model and, where asked, evaluates it; returns result and reported lines."""

    def go(*, source=ToyInput, model=ToyModel, evaluate=False, **options):
        lines = []
        setup = make_setup(model, source, str(tmp_path), evaluate=evaluate, **options)
        result = run_setup(setup, report=lines.append)
        return result, "\n".join(lines)

    return go


@pytest.fixture
def other_run(tmp_path_factory):
    """Trains the toy model, or another model, in another folder; returns the folder."""

    def other_run(model=ToyModel, **options):
        folder = tmp_path_factory.mktemp("other")
        setup = make_setup(model, ToyInput, str(folder), evaluate=False, **options)
        run_setup(setup, report=lambda line: None)
        return folder

    return other_run


class OneEpoch(ToyInput):
    def dataset(self, mode, context):
        return super().dataset(Mode.EVAL, context)
