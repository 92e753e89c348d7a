import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_classification.model.metrics import classification_metrics
from tf_frame_vision.drawing.confusion_picture import confusion_picture

pytestmark = pytest.mark.usefixtures("graph")

NAMES = ("cat", "dog", "T-shirt/top", "bird", "fish", "fly")


def evaluate(batches, class_names=NAMES, max_class_metrics=25):
    """Runs the metrics over batches of `(logits, labels)`."""
    num_classes = batches[0][0].shape[1]
    with tf.Graph().as_default(), tf.Session() as session:
        logits = tf.placeholder(tf.float32, [None, num_classes])
        labels = tf.placeholder(tf.int32, [None])
        metrics = classification_metrics(
            logits, labels, class_names=class_names, max_class_metrics=max_class_metrics
        )
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        for batch in batches:
            feeds = dict(zip((logits, labels), batch, strict=True))
            session.run([update for _, update in metrics.values()], feeds)
        return session.run({name: value for name, (value, _) in metrics.items()})


def answers(*classes):
    """Logits that are largest for the given classes."""
    return np.eye(len(NAMES))[list(classes)] + np.random.RandomState(0).rand(len(classes), 1)


def test_answers_are_counted_over_all_batches():
    batches = [(answers(0, 0, 1), [0, 0, 0]), (answers(2, 2), [2, 1])]
    values = evaluate(batches, max_class_metrics=len(NAMES))
    assert values["accuracy"] == pytest.approx(3 / 5)
    assert values["recall_cat"] == pytest.approx(2 / 3)
    assert values["recall_T-shirt_top"] == 1 and np.isnan(values["recall_fly"])
    assert values["recall_dog"] == 0
    # Only the three classes that occur: 2/3, 0 and 1.
    assert values["mean_recall"] == pytest.approx(5 / 9)
    expected = np.zeros([6, 6])
    expected[0, 0], expected[0, 1], expected[1, 2], expected[2, 2] = 2, 1, 1, 1
    np.testing.assert_array_equal(values["confusion_matrix"], expected)
    (image,) = tf.Summary.FromString(values["confusion_matrix_image"]).value
    with tf.Session() as session:
        pixels = session.run(tf.image.decode_png(image.image.encoded_image_string))
    np.testing.assert_array_equal(pixels, confusion_picture(expected, NAMES))


def test_top_5_counts_labels_among_the_five_largest_of_more_than_five_classes():
    logits = np.tile(np.arange(6.0), [4, 1])
    values = evaluate([(logits, [0, 1, 5, 0])])
    assert values["top_5_accuracy"] == pytest.approx(2 / 4)
    values = evaluate([(np.eye(5), np.arange(5))], class_names=())
    assert "top_5_accuracy" not in values
    assert values["recall_4"] == 1  # Numbers stand in for names.


def test_recalls_of_equal_names_are_numbered_and_many_classes_have_none():
    values = evaluate([(np.eye(3), np.array([0, 2, 2]))], class_names=("a b", "a/b", "c"))
    recalls = {name: value for name, value in values.items() if name.startswith("recall_")}
    assert np.isnan(recalls.pop("recall_a_b_1"))
    assert recalls == {"recall_a_b_0": 1, "recall_c": 0.5}
    values = evaluate([(np.eye(6), np.arange(6))], max_class_metrics=5)
    assert not [name for name in values if name.startswith("recall_")]
    assert (values["mean_recall"], values["mean_recall_classes"]) == (1, 6)
