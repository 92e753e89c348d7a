"""What a warm start took, or that it was passed over, stands in the log of the run."""

import logging

import pytest

from tf_frame.estimator.training.run import run
from tf_frame.session.interrupts import Interrupts
from tf_frame.testing.toy import ToyInput, ToyModel, make_job


def go(folder, **options):
    job = make_job(ToyModel, ToyInput, str(folder), evaluate=False, **options)
    run(job, source=job.make_input(), interrupts=Interrupts(), report=lambda line: None)


@pytest.fixture
def pretrained(tmp_path):
    folder = tmp_path / "pretrained"
    folder.mkdir()
    go(folder, max_steps=2)
    return str(folder)


def test_the_report_and_the_note_are_logged(tmp_path, pretrained, caplog):
    caplog.set_level(logging.INFO, "tf_frame")
    folder = tmp_path / "own"
    folder.mkdir()
    go(folder, max_steps=1, warm_start_from=pretrained)
    assert "2 of 2 variables restored" in caplog.text
    assert "linear/weights" in caplog.text
    caplog.clear()
    go(folder, max_steps=2, warm_start_from=pretrained)
    assert f"ignoring --warm_start_from {pretrained}" in caplog.text
    assert str(folder) in caplog.text
