import pytest

from tf_frame.errors import short_reason

FULL_DISK = """Graph execution error:

Detected at node 'save/SaveV2' defined at (most recent call last):
    File "train.py", line 5, in <module>
Node: 'save/SaveV2'
/data/model.ckpt-0.data-00000-of-00001; No space left on device
\t [[{{node save/SaveV2}}]]
"""


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (FULL_DISK, "/data/model.ckpt-0.data-00000-of-00001; No space left on device"),
        ("Graph execution error:\n\nUnknown image format\n\t [[x]]", "Unknown image format"),
        ("plain\nmore", "plain"),
        (
            "From /job:ps/replica:0/task:0:\n/data/x; No space left\n\t [[x]]",
            "/data/x; No space left",
        ),
        (
            "From /job:chief/replica:0/task:0:\n" + FULL_DISK,
            "/data/model.ckpt-0.data-00000-of-00001; No space left on device",
        ),
        (
            "Graph execution error:\n\nFrom /job:chief/replica:0/task:0:\nUnknown image\n\t [[x]]",
            "Unknown image",
        ),
        ("", "ValueError"),
        (
            "Graph execution error:\n\nassertion failed: [a/b.tfrecord: record 3 [2]]\n\t [[x]]",
            "a/b.tfrecord: record 3 [2]",
        ),
        (
            "Error in user-defined function passed to FlatMapDatasetV2:1 transformation with "
            "iterator: Iterator::Root: assertion failed: [a/b.tfrecord: record 3]\n\t [[x]]",
            "a/b.tfrecord: record 3",
        ),
        ("assertion failed: [too large] [x (input:0) = ] [[1 2]...]\n\t [[x]]", "too large"),
    ],
)
def test_the_reason_is_the_line_that_says_something(message, reason):
    assert short_reason(ValueError(message)) == reason
