import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_classification.model.metrics import classification_metrics
from tf_frame_vision.drawing.confusion_picture import confusion_picture

NAMES = ("cat", "dog", "T-shirt/top", "bird", "fish", "fly")


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def evaluate(batches, class_names=NAMES, max_class_metrics=25):
    """Runs the metrics over batches of `(logits, labels)`."""
    num_classes = batches[0][0].shape[1]
    logits = tf.placeholder(tf.float32, [None, num_classes])
    labels = tf.placeholder(tf.int32, [None])
    metrics = classification_metrics(
        logits, labels, class_names=class_names, max_class_metrics=max_class_metrics
    )
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for batch in batches:
            fed = dict(zip((logits, labels), batch, strict=True))
            session.run([update for _, update in metrics.values()], fed)
        return session.run({name: value for name, (value, _) in metrics.items()})


def answers(*classes):
    """Logits whose largest is that of each class."""
    return np.eye(len(NAMES))[list(classes)] + np.random.RandomState(0).rand(len(classes), 1)


def test_answers_are_counted_over_all_batches():
    batches = [(answers(0, 0, 1), [0, 0, 0]), (answers(2, 2), [2, 1])]
    found = evaluate(batches, max_class_metrics=len(NAMES))
    assert found["accuracy"] == pytest.approx(3 / 5)
    assert found["recall_cat"] == pytest.approx(2 / 3)
    assert (found["recall_dog"], found["recall_T-shirt_top"], found["recall_fly"]) == (0, 1, 0)
    # Only the three classes that occur: 2/3, 0 and 1.
    assert found["mean_recall"] == pytest.approx(5 / 9)
    expected = np.zeros([6, 6])
    expected[0, 0], expected[0, 1], expected[1, 2], expected[2, 2] = 2, 1, 1, 1
    np.testing.assert_array_equal(found["confusion_matrix"], expected)


def test_top_5_counts_labels_among_the_five_largest():
    logits = np.tile(np.arange(6.0), [4, 1])
    found = evaluate([(logits, [0, 1, 5, 0])])
    assert found["top_5_accuracy"] == pytest.approx(2 / 4)


def test_five_classes_have_no_top_5():
    found = evaluate([(np.eye(5), np.arange(5))], class_names=())
    assert "top_5_accuracy" not in found
    assert found["recall_4"] == 1  # Numbers stand in for names.


def test_classes_whose_names_come_out_alike_keep_a_recall_each():
    found = evaluate([(np.eye(3), np.array([0, 2, 2]))], class_names=("a b", "a/b", "c"))
    recalls = {name: value for name, value in found.items() if name.startswith("recall_")}
    assert recalls == {"recall_a_b_0": 1, "recall_a_b_1": 0, "recall_c": 0.5}


def test_many_classes_have_no_recall_each():
    found = evaluate([(np.eye(6), np.arange(6))], max_class_metrics=5)
    assert not [name for name in found if name.startswith("recall_")]
    assert found["mean_recall"] == 1


def test_the_image_is_a_picture_of_the_matrix():
    found = evaluate([(answers(0, 0, 1), [0, 0, 0])])
    (value,) = tf.Summary.FromString(found["confusion_matrix_image"]).value
    with tf.Session() as session:
        pixels = session.run(tf.image.decode_png(value.image.encoded_image_string))
    np.testing.assert_array_equal(pixels, confusion_picture(found["confusion_matrix"], NAMES))
