import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy.program.messages import Int64List


@pytest.mark.parametrize(
    "value", [[True, 0, 3], (True, False, 3), np.array([1, 0, 3]), iter([np.bool_(1), 0, 3])]
)
def test_a_truth_value_is_a_number(value):
    message = Int64List(value=value)
    assert list(message.value) == [1, 0, 3]
    assert tf.train.Feature(int64_list=message).int64_list == message
    assert isinstance(message, Int64List)


def test_what_was_no_number_is_none():
    with pytest.raises(TypeError):
        Int64List(value=[1.5])
    with pytest.raises(TypeError):
        Int64List(value=["1"])
    with pytest.raises(ValueError, match="wrong"):
        Int64List(wrong=[1])
    assert Int64List().SerializeToString() == b""
    assert Int64List.FromString(Int64List(value=[7]).SerializeToString()).value == [7]


def test_programs_have_it(programs):
    text = "import tensorflow as tf\nprint(tf.train.Int64List(value=[True]).value)"
    assert programs.run_text(text) == ["[1]"]
