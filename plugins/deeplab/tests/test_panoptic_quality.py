"""Panoptic quality and parsing covering against a reference that is written pixel by pixel."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_deeplab.panoptic.metrics import panoptic_metrics
from tf_frame_deeplab.panoptic.quality import COLUMNS, CROWD, count_segments, qualities

RANDOM = np.random.RandomState(5)


def segments(classes, instances):
    """(class, instance) -> set of its pixels."""
    places = {}
    for place in np.ndindex(classes.shape):
        places.setdefault((int(classes[place]), int(instances[place])), set()).add(place)
    return places


def reference(true_classes, true_instances, classes, instances, num_classes):
    """The counts by sets of pixels, as the paper defines them."""
    truth = segments(true_classes, true_instances)
    predicted = segments(classes, instances)
    void = set().union(*(pixels for (c, _), pixels in truth.items() if c >= num_classes))
    counts = np.zeros([num_classes, len(COLUMNS)])
    matched = set()
    for (class_, instance), pixels in truth.items():
        if class_ >= num_classes or instance == CROWD:
            continue
        best = 0.0
        for key, predicted_pixels in predicted.items():
            if key[0] == class_:
                union = pixels | (predicted_pixels - void)
                iou = len(pixels & predicted_pixels) / len(union)
                best = max(best, iou)
                if iou > 0.5:
                    matched.add(key)
        counts[class_] += [best, 1, 0, 0, 0, 0] if best > 0.5 else [0, 0, 0, 1, 0, 0]
        area = len(pixels) / classes.size
        counts[class_] += [0, 0, 0, 0, best * area, area]
    for key, pixels in predicted.items():
        crowd = truth.get((key[0], CROWD), set())
        if key not in matched and 2 * len(pixels & (void | crowd)) <= len(pixels):
            counts[key[0], 2] += 1
    return counts


def blocks(values, height=12, width=16, probability=0.1):
    """An image of areas, with some changed pixels."""
    coarse = RANDOM.choice(values, size=[height // 4, width // 4])
    image = np.kron(coarse, np.ones([4, 4], int))
    noise = RANDOM.choice(values, size=image.shape)
    return np.where(RANDOM.uniform(size=image.shape) < probability, noise, image)


def random_pair():
    true_classes, true_instances = blocks([0, 1, 2, 255]), blocks([0, 1, 2, CROWD])
    changed = RANDOM.uniform(size=true_classes.shape) < 0.25
    classes = np.where(changed, blocks([0, 1, 2]), true_classes % 3)
    return true_classes, true_instances, classes, np.maximum(true_instances, 0)


@pytest.mark.parametrize("number", range(8))
def test_counts_equal_the_reference(number):
    pair = random_pair()
    expected = reference(*pair, 3)
    np.testing.assert_allclose(count_segments(*pair, num_classes=3), expected)
    assert expected[:, 1].any()


CROWDED = [CROWD] * 3 + [0]
# True classes and instances, predicted classes and instances -> counts of both classes.
RULES = {
    "an IoU of one half is no match": (
        ([1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]),
        [[0, 0, 1, 0], [0, 0, 1, 1]],
    ),
    "void pixels of a prediction do not count in the union": (
        ([1, 1, 255, 255], [1, 1, 0, 0], [1] * 4, [1] * 4),
        [None, [1, 1, 0, 0]],
    ),
    "a prediction that is mostly void is no error": (
        ([0, 255, 255, 0], [0] * 4, [1, 1, 1, 0], [1, 1, 1, 0]),
        [None, [0, 0, 0, 0]],
    ),
    "a prediction that is half void is an error": (
        ([0, 0, 255, 255], [0] * 4, [0, 1, 1, 0], [0, 1, 1, 0]),
        [None, [0, 0, 1, 0]],
    ),
    "a crowd is neither missed nor found and excuses its class": (
        ([1, 1, 1, 0], CROWDED, [1, 1, 1, 0], [1, 2, 2, 0]),
        [[1, 1, 0, 0], [0, 0, 0, 0]],
    ),
    "a crowd does not excuse another class": (
        ([1, 1, 1, 0], CROWDED, [0, 0, 0, 0], [2, 2, 2, 0]),
        [[1, 1, 1, 0], None],
    ),
    "void alone": (([255] * 4, [0] * 4, [1, 1, 0, 0], [1, 2, 0, 0]), [[0] * 4] * 2),
}


@pytest.mark.parametrize("rule", RULES)
def test_segments_are_counted_by_the_rules(rule):
    rows, expected = RULES[rule]
    images = [np.array([row]) for row in rows]
    counts = count_segments(*images, num_classes=2)
    np.testing.assert_allclose(counts, reference(*images, 2))
    for row, expected_row in zip(counts[:, :4].tolist(), expected, strict=True):
        assert expected_row in (None, row)


def test_quality_is_the_product_of_its_parts():
    counts = np.array([[1.6, 2, 1, 3, 0.3, 0.4], [0, 0, 0, 2, 0.0, 0.1], [0] * 6])
    values = qualities(counts)
    for name, value in (("pq", 0.4), ("sq", 0.8), ("rq", 0.5), ("parsing_covering", 0.75)):
        assert values[name] == pytest.approx([value, 0, np.nan], nan_ok=True)
    assert np.isnan(qualities(np.zeros([2, 6]))["pq"]).all()


def evaluate(pairs, **settings):
    """Values of the metrics after batches of two images."""
    with tf.Graph().as_default(), tf.Session() as session:
        images = [tf.placeholder(tf.int32, [None, None, None]) for _ in range(4)]
        labels = {"semantic": images[0], "instances": images[1]}
        predictions = {"semantic": images[2], "panoptic_semantic": images[2]}
        predictions["instances"] = images[3]
        metrics = panoptic_metrics(labels, predictions, things=(1, 2), num_classes=3, **settings)
        session.run(tf.local_variables_initializer())
        for start in range(0, len(pairs), 2):
            batch = map(np.stack, zip(*pairs[start : start + 2], strict=True))
            session.run([u for _, u in metrics.values()], dict(zip(images, batch, strict=True)))
        return session.run({name: value for name, (value, _) in metrics.items()})


def test_batches_add_up():
    pairs = [random_pair() for _ in range(5)]
    values = evaluate(pairs, ignore_label=255, class_names=("a", "b"))
    counts = sum(reference(*pair, 3) for pair in pairs)
    expected = qualities(counts)
    for name in ("pq", "sq", "rq", "parsing_covering"):
        assert values[name] == pytest.approx(np.mean(expected[name]), rel=1e-5)
    assert [values[f"pq_{name}"] for name in ("a", "b", "2")] == pytest.approx(expected["pq"])


def test_a_label_to_ignore_may_be_a_class():
    classes = np.array([[0, 0, 1, 1]])
    values = evaluate([(classes, classes, 0 * classes + 1, 0 * classes + 1)], ignore_label=0)
    assert (values["pq"], values["pq_1"]) == (1, 1) and np.isnan(values["pq_0"])


def test_components_are_judged_next_to_the_instances():
    """Two instances touch: the network separates them, but they are one component."""
    classes, instances = np.ones([1, 8], int), np.array([[1, 1, 1, 1, 2, 2, 2, 2]])
    values = evaluate([(classes, instances, classes, instances)])
    assert (values["pq"], values["pq_components"]) == (1, 0)
