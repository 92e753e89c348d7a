import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame_legacy import input_queues
from tf_frame_legacy.config import TRAIN_CONFIG, Config


@pytest.mark.parametrize(("size", "parts", "expected"), [(8, 2, 4), (7, 2, 3), (3, 3, 1)])
def test_a_part_of_a_batch_is_rounded_down(size, parts, expected):
    assert input_queues.split_batch_size(size, parts) == expected


def create(config, *functions, num_parts=1, **kwargs):
    def create_input_queue(size, function, *sizes_and_options):
        return size, function, tf.no_op().name, sizes_and_options

    config = Config(config, TRAIN_CONFIG)
    with tf.Graph().as_default():
        return input_queues.create_queues(
            create_input_queue, functions, config, num_parts, **kwargs
        )


def test_each_input_has_its_part_of_the_batch_and_the_sizes_of_the_configuration():
    config = {
        "batch_queue_capacity": 1,
        "num_batch_queue_threads": 2,
        "prefetch_queue_capacity": 3,
        "data_augmentation_options": [4],
    }
    queues = create({**config, "batch_size": [7, 2]}, "first", "second", num_parts=2)
    assert queues == [
        (3, "first", "Input/NoOp", (1, 2, 3, [4])),
        (1, "second", "Input/NoOp_1", (1, 2, 3, [4])),
    ]
    ((size, _, name, _),) = create({"batch_size": 7}, "only", num_parts=2, scope="")
    assert (size, name) == (3, "NoOp")


@pytest.mark.parametrize(
    ("size", "functions", "num_parts", "words"),
    [
        ([7], [None, None], 1, r"batch_size is \[7\] for 2 inputs; give a list"),
        (4, [None, None], 1, "batch_size is 4 for 2 inputs; give a list"),
        ([4, 2], [None], 1, r"batch_size is \[4, 2\] for 1 inputs"),
        ([6, 1], [None, None], 2, "batch_size 1 leaves no example for each of 2 parts"),
    ],
)
def test_a_batch_that_cannot_be_split(size, functions, num_parts, words):
    with pytest.raises(ConfigError, match=words):
        create({"batch_size": size}, *functions, num_parts=num_parts)


@pytest.mark.parametrize("option", [{"brighten": {}}, (1, {}), ("brighten", {}), (print,)])
def test_an_augmentation_is_a_function_with_arguments(option):
    assert input_queues.check_augmentation((print, {"a": 1})) == (print, {"a": 1})
    with pytest.raises(ConfigError, match="is not a pair of a function and its arguments; give"):
        input_queues.check_augmentation(option)


def test_an_augmentation_may_be_named():
    pair = ["brighten", {}]
    assert input_queues.check_augmentation(pair, names=True) == ("brighten", {})
    with pytest.raises(ConfigError, match="is not a pair of a function, or the name of one, and"):
        input_queues.check_augmentation(1, names=True)
