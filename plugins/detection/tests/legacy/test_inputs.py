import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import run_initialized
from tf_frame_detection.legacy import inputs

pytestmark = pytest.mark.usefixtures("graph")


class Queue:
    """Gives these examples."""

    def __init__(self, *examples):
        self._examples = examples

    def dequeue(self):
        return list(self._examples)


def example(boxes, classes, **tensors):
    return {
        "image": tf.ones([1, 2, 2, 3]),
        "groundtruth_boxes": tf.constant(boxes, tf.float32, [len(boxes), 4]),
        "groundtruth_classes": tf.constant(classes, tf.int64),
        **tensors,
    }


BOX, OTHER = [0.0, 0.0, 0.5, 0.5], [0.5, 0.5, 1.0, 1.0]


def test_classes_become_one_hot():
    queue = Queue(
        example([BOX, OTHER], [1, 3], source_id="first", groundtruth_weights=tf.ones([2])),
        example([], []),
    )
    images, keys, boxes, classes, masks, keypoints, weights = inputs.get_inputs(queue, 3)
    assert (len(images), keys) == (2, ("first", ""))
    assert (masks, keypoints, weights[1]) == ((None, None), (None, None), None)
    boxes, classes, weight = run_initialized([boxes, classes, weights[0]])
    np.testing.assert_array_equal(boxes[0], [BOX, OTHER])
    np.testing.assert_array_equal(classes[0], [[1, 0, 0], [0, 0, 1]])
    assert (boxes[1].shape, classes[1].shape, weight.tolist()) == ((0, 4), (0, 3), [1, 1])


def test_batches_of_several_queues_become_one():
    queues = [Queue(example([BOX], [1])), Queue(example([OTHER], [2]), example([], []))]
    _, _, boxes, *_ = inputs.get_inputs(queues, 2)
    assert [len(array) for array in run_initialized(boxes)] == [1, 1, 0]


def test_equal_boxes_become_one_with_all_classes():
    queue = Queue(example([OTHER, BOX, OTHER], [1, 2, 3]), example([], []))
    _, _, boxes, classes, *_ = inputs.get_inputs(queue, 3, merge_multiple_label_boxes=True)
    assert boxes[0].shape.as_list() == [None, 4]
    boxes, classes = run_initialized([boxes, classes])
    np.testing.assert_array_equal(boxes[0], [OTHER, BOX])
    np.testing.assert_array_equal(classes[0], [[1, 0, 1], [0, 1, 0]])
    assert (boxes[1].shape, classes[1].shape) == ((0, 4), (0, 3))


def test_scores_of_several_classes_replace_the_classes():
    scores = tf.constant([[0.25, 0.75]])
    queue = Queue(example([BOX], [1], multiclass_scores=scores))
    _, _, _, (classes,), *_ = inputs.get_inputs(queue, 2, use_multiclass_scores=True)
    np.testing.assert_array_equal(run_initialized(classes), [[0.25, 0.75]])


def test_what_cannot_be_merged_is_refused():
    with pytest.raises(ValueError, match="Using both merge_multiple_label_boxes and use_multicl"):
        inputs.get_inputs(Queue(), 2, True, True)
    queue = Queue(example([BOX], [1], groundtruth_instance_masks=tf.ones([1, 2, 2])))
    with pytest.raises(NotImplementedError, match="Multi-label support is only for boxes."):
        inputs.get_inputs(queue, 2, merge_multiple_label_boxes=True)
