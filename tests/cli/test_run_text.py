from types import SimpleNamespace

from tf_frame.cli import run_text
from tf_frame.config.run_options import RunOptions


def test_other_versions_than_the_configuration_was_written_with_are_noted():
    line = SimpleNamespace(versions=lambda: {"tf-frame": "0.1", "gone": "1"}, defaults=dict)
    setup = SimpleNamespace(
        config=RunOptions(),
        versions=lambda: {"tf-frame": "0.2", "new": "1"},
        model_dir="nowhere",
    )
    assert run_text.notes(line, setup) == [
        "note: the configuration was written with tf-frame 0.1, this is 0.2"
    ]
