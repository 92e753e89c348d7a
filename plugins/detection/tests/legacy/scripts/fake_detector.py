"""A detector as for the Object Detection API: one convolution, one box and class per image."""

import numpy as np
import tensorflow.compat.v1 as tf

from tf_frame_detection.legacy import model, standard_fields as fields
from tf_frame_legacy import slim

NUM_CLASSES = 2
# Objects of each photograph.
COUNTS = [2, 0, 1, 2]
SIZE = 8


class FakeDetector(model.DetectionModel):
    def preprocess(self, inputs):
        images = tf.image.resize_images(inputs, [SIZE, SIZE]) / 255.0
        return images, tf.constant([[SIZE, SIZE, 3]])

    def predict(self, preprocessed_inputs, true_image_shapes):
        assert true_image_shapes.shape[0] == preprocessed_inputs.shape[0]
        return predict(preprocessed_inputs, 4, self.num_classes)

    def loss(self, prediction_dict, true_image_shapes):
        return losses(
            prediction_dict,
            self.groundtruth_lists(fields.BoxListFields.boxes),
            self.groundtruth_lists(fields.BoxListFields.classes),
        )

    def postprocess(self, prediction_dict, true_image_shapes, **params):
        raise NotImplementedError

    def restore_map(
        self, fine_tune_checkpoint_type="detection", load_all_detection_checkpoint_vars=False
    ):
        found = {}
        for variable in tf.global_variables():
            name = variable.op.name
            if load_all_detection_checkpoint_vars or name.startswith("FeatureExtractor/"):
                if fine_tune_checkpoint_type == "classification":
                    name = name.replace("FeatureExtractor/", "")
                found[name] = variable
        return found


class FakeRotatedDetector(FakeDetector):
    """For the API's first version, whose models knew no true shapes."""

    is_rbbox = True

    def preprocess(self, inputs):
        return super().preprocess(inputs)[0]

    def predict(self, preprocessed_inputs):
        return predict(preprocessed_inputs, 5, self.num_classes)

    def loss(self, prediction_dict):
        return super().loss(prediction_dict, None)

    def restore_map(self, from_detection_checkpoint=True):
        kind = "detection" if from_detection_checkpoint else "classification"
        return super().restore_map(kind)


def predict(images, box_size, num_classes):
    weights = {"weights_regularizer": slim.l2_regularizer(0.01)}
    with tf.variable_scope("FeatureExtractor"):
        net = slim.conv2d(images, 4, 3, normalizer_fn=slim.batch_norm, **weights)
    net = tf.reduce_mean(net, [1, 2])
    with tf.variable_scope("BoxPredictor"):
        boxes = slim.fully_connected(net, box_size, None, scope="BoxEncodingPredictor", **weights)
        logits = slim.fully_connected(net, num_classes, None, scope="ClassPredictor", **weights)
    return {"boxes": boxes, "logits": logits}


def losses(predictions, boxes_list, classes_list):
    localization, classification = [], []
    parts = zip(
        tf.unstack(predictions["boxes"]),
        tf.unstack(predictions["logits"]),
        boxes_list,
        classes_list,
        strict=True,
    )
    for box, logits, boxes, classes in parts:
        localization.append(tf.reduce_sum(tf.square(boxes - box)))
        present = tf.minimum(tf.reduce_sum(classes, 0), 1.0)
        errors = tf.nn.sigmoid_cross_entropy_with_logits(labels=present, logits=logits)
        classification.append(tf.reduce_sum(errors))
    return {
        "localization_loss": tf.reduce_mean(localization, name="localization_loss"),
        "classification_loss": tf.reduce_mean(classification, name="classification_loss"),
    }


def create_tensor_dict(box_size=4, num_epochs=None):
    """One photograph after the other, with its own number of objects."""
    random = np.random.RandomState(0)
    index = tf.train.range_input_producer(len(COUNTS), num_epochs, shuffle=False).dequeue()
    images = random.randint(0, 256, [len(COUNTS), 12, 10, 3]).astype(np.uint8)
    boxes = random.uniform(size=[len(COUNTS), max(COUNTS), box_size]).astype(np.float32)
    classes = random.randint(1, NUM_CLASSES + 1, [len(COUNTS), max(COUNTS)])
    count = tf.gather(COUNTS, index)
    boxes_name = (
        fields.InputDataFields.groundtruth_rboxes
        if box_size == 5
        else fields.InputDataFields.groundtruth_boxes
    )
    return {
        fields.InputDataFields.image: tf.gather(images, index),
        fields.InputDataFields.source_id: tf.as_string(index),
        boxes_name: tf.gather(boxes, index)[:count],
        fields.InputDataFields.groundtruth_classes: tf.gather(classes, index)[:count],
    }
