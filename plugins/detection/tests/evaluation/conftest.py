"""Random boxes and detections."""

import numpy as np
import pytest

from tf_frame_detection.evaluation.images import Found, Image, Truth


def random_boxes(random, count):
    """Boxes of whole pixels, of all of COCO's sizes; some have the same overlap with others."""
    upper_left = random.randint(0, 60, [count, 2])
    sides = random.choice([10, 20, 40, 120], [count, 2])
    return np.concatenate([upper_left, upper_left + sides], axis=1).astype(np.float64)


def random_image(random, *, num_classes):
    """An image whose detections are often near its boxes, several with the same score."""
    boxes = random_boxes(random, random.randint(0, 8))
    crowd = random.rand(len(boxes)) < 0.15
    ignored = crowd | (random.rand(len(boxes)) < 0.15)
    truth = Truth(boxes, random.randint(0, num_classes, len(boxes)), ignored, crowd)
    near = np.repeat(boxes, 3, axis=0) + random.randint(-3, 4, [3 * len(boxes), 4])
    found = np.concatenate([boxes, near, random_boxes(random, random.randint(0, 5))])
    classes = np.concatenate([np.tile(truth.classes, 1), np.repeat(truth.classes, 3)])
    others = random.randint(0, num_classes, len(found) - len(classes))
    scores = np.round(random.rand(len(found)), 1)
    return Image(truth, Found(found, scores, np.concatenate([classes, others])))


def with_many(image, random, count=230):
    """The image with more detections than count, of which most lie on nothing."""
    boxes = np.concatenate([random_boxes(random, count), image.found.boxes])
    scores = np.concatenate([random.rand(count), image.found.scores])
    classes = np.concatenate([np.zeros(count, int), image.found.classes])
    return image._replace(found=Found(boxes, scores, classes))


@pytest.fixture(scope="package")
def random_cases():
    """Six evaluations of three classes, the last class without boxes in the first."""
    cases = []
    for seed in range(6):
        random = np.random.RandomState(seed)
        images = [random_image(random, num_classes=3 if seed else 2) for _ in range(12)]
        images[3] = with_many(images[3], random)
        images[5] = images[5]._replace(truth=Truth(*(part[:0] for part in images[5].truth)))
        images[6] = images[6]._replace(found=Found(*(part[:0] for part in images[6].found)))
        cases.append(images)
    return cases
