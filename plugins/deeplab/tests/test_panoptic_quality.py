"""Panoptic quality and parsing covering against a reference that is written pixel by pixel."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_deeplab.panoptic.metrics import panoptic_metrics
from tf_frame_deeplab.panoptic.quality import COLUMNS, CROWD, count_segments, qualities

RANDOM = np.random.RandomState(5)


def segments(classes, instances):
    """(class, instance) -> set of its pixels."""
    found = {}
    for place in np.ndindex(classes.shape):
        found.setdefault((int(classes[place]), int(instances[place])), set()).add(place)
    return found


def reference(true_classes, true_instances, classes, instances, num_classes):
    """The counts by sets of pixels, as the paper defines them."""
    known = range(num_classes)
    truth = segments(true_classes, true_instances)
    found = segments(classes, instances)
    void = set().union(*(pixels for (c, _), pixels in truth.items() if c not in known))
    counts = np.zeros([num_classes, len(COLUMNS)])
    matched = set()
    for (class_, instance), pixels in truth.items():
        if class_ not in known or instance == CROWD:
            continue
        best = 0.0
        for key, others in found.items():
            if key[0] == class_:
                iou = len(pixels & others) / len(pixels | (others - void))
                best = max(best, iou)
                if iou > 0.5:
                    matched.add(key)
        counts[class_] += [best, 1, 0, 0, 0, 0] if best > 0.5 else [0, 0, 0, 1, 0, 0]
        area = len(pixels) / classes.size
        counts[class_] += [0, 0, 0, 0, best * area, area]
    for key, pixels in found.items():
        crowd = truth.get((key[0], CROWD), set())
        if key not in matched and 2 * len(pixels & (void | crowd)) <= len(pixels):
            counts[key[0], 2] += 1
    return counts


def blocks(values, height=12, width=16, probability=0.1):
    """An image of areas, some pixels of which are changed."""
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


def counts_of(true_classes, true_instances, classes, instances):
    images = [np.array([row]) for row in (true_classes, true_instances, classes, instances)]
    counts = count_segments(*images, num_classes=2)
    np.testing.assert_allclose(counts, reference(*images, 2))
    return counts[:, :4].tolist()


def test_iou_of_one_half_is_no_match():
    assert counts_of([1, 1, 1, 1], [1, 1, 1, 1], [1, 1, 0, 0], [1, 1, 0, 0]) == [
        [0, 0, 1, 0],
        [0, 0, 1, 1],
    ]


def test_void_pixels_of_a_prediction_do_not_count_in_the_union():
    assert counts_of([1, 1, 255, 255], [1, 1, 0, 0], [1] * 4, [1] * 4)[1] == [1, 1, 0, 0]


def test_a_prediction_that_is_mostly_void_is_no_error():
    assert counts_of([0, 255, 255, 0], [0] * 4, [1, 1, 1, 0], [1, 1, 1, 0])[1] == [0, 0, 0, 0]


def test_a_prediction_that_is_half_void_is_an_error():
    assert counts_of([0, 0, 255, 255], [0] * 4, [0, 1, 1, 0], [0, 1, 1, 0])[1] == [0, 0, 1, 0]


def test_a_crowd_is_neither_missed_nor_found_and_excuses_its_class():
    crowd = [CROWD] * 3 + [0]
    assert counts_of([1, 1, 1, 0], crowd, [1, 1, 1, 0], [1, 2, 2, 0]) == [
        [1, 1, 0, 0],
        [0, 0, 0, 0],
    ]


def test_a_crowd_does_not_excuse_another_class():
    crowd = [CROWD] * 3 + [0]
    assert counts_of([1, 1, 1, 0], crowd, [0, 0, 0, 0], [2, 2, 2, 0])[0] == [1, 1, 1, 0]


def test_void_alone_leaves_all_at_zero():
    counts = counts_of([255] * 4, [0] * 4, [1, 1, 0, 0], [1, 2, 0, 0])
    assert not np.any(counts)
    assert not qualities(np.zeros([2, 6]))["pq"].any()


def test_quality_is_the_product_of_its_parts():
    counts = np.array([[1.6, 2, 1, 3, 0.3, 0.4], [0, 0, 0, 2, 0.0, 0.1], [0] * 6])
    found = qualities(counts)
    assert found["pq"] == pytest.approx([0.4, 0, 0])
    assert found["sq"] == pytest.approx([0.8, 0, 0])
    assert found["rq"] == pytest.approx([0.5, 0, 0])
    assert found["parsing_covering"] == pytest.approx([0.75, 0, 0])
    assert found["occurs"].tolist() == [True, True, False]


def evaluated(pairs, **settings):
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
    found = evaluated(pairs, ignore_label=255, class_names=("a", "b"))
    counts = sum(reference(*pair, 3) for pair in pairs)
    expected = qualities(counts)
    for name in ("pq", "sq", "rq", "parsing_covering"):
        assert found[name] == pytest.approx(np.mean(expected[name]), rel=1e-5)
    assert [found[f"pq_{name}"] for name in ("a", "b", "2")] == pytest.approx(expected["pq"])


def test_a_label_to_ignore_may_be_a_class():
    classes = np.array([[0, 0, 1, 1]])
    found = evaluated([(classes, classes, 0 * classes + 1, 0 * classes + 1)], ignore_label=0)
    assert found["pq"] == found["pq_1"] == 1
    assert found["pq_0"] == 0


def test_components_are_judged_beside_the_instances():
    """Two instances that touch: told apart by the network, one component."""
    classes, instances = np.ones([1, 8], int), np.array([[1, 1, 1, 1, 2, 2, 2, 2]])
    found = evaluated([(classes, instances, classes, instances)])
    assert found["pq"] == 1
    assert found["pq_components"] == 0
