"""Flags of TensorFlow 1: read early, words after switches."""

import pytest
from absl import flags as absl_flags

_TEXT = """
import tensorflow as tf
flags = tf.app.flags
flags.DEFINE_integer("{0}_steps", 3, "")
flags.DEFINE_boolean("{0}_training", True, "")
FLAGS = flags.FLAGS
print("early", FLAGS.{0}_steps, FLAGS.{0}_training)
flags.DEFINE_string("{0}_late", "none", "")
FLAGS.{0}_steps += 1
def main(words):
    print(FLAGS.{0}_steps, FLAGS.{0}_training, FLAGS.{0}_late, words[1:])
    print("{0}_steps" in FLAGS.__flags, FLAGS.__flags["{0}_late"], FLAGS["{0}_late"].value)
if __name__ == "__main__":
    tf.app.run()
"""


@pytest.fixture(autouse=True)
def unparsed_flags():
    """The flags of the process, as before any command was parsed."""
    was_parsed = absl_flags.FLAGS.is_parsed()
    absl_flags.FLAGS.unparse_flags()
    yield
    if was_parsed:
        absl_flags.FLAGS.mark_as_parsed()


def test_flags_are_read_before_all_are_defined(programs):
    script = programs.write(_TEXT.format("one"))
    assert programs.run(script, "--one_steps=5", "--one_late", "given", "word") == [
        "early 5 True",
        "5 True given ['word']",
        "True given given",
    ]


def test_a_switch_takes_a_word(programs):
    script = programs.write(_TEXT.format("two"))
    lines = programs.run(script, "--two_training", "False", "--two_late=x", "word")
    assert lines[:2] == ["early 3 False", "4 False x ['word']"]
