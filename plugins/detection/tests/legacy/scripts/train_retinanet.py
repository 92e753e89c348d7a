"""Trains a RetinaNet by its fork of the API's trainer; input and network are functions here."""

import argparse

import fake_detector
import tensorflow.compat.v1 as tf

from tf_frame_detection.legacy import batcher, retinanet_trainer as trainer

NUM_EPOCHS = 3

parser = argparse.ArgumentParser()
parser.add_argument("--train_dir", required=True, help="folder of checkpoints and summaries")
parser.add_argument("--label_map_file", required=True, help="label map")


class TrainConfig(dict):
    """A dictionary whose items are attributes, too."""

    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


def input_queue_generator(input_reader_config):
    assert input_reader_config.input_path == input_reader_config["train_file_path"]
    tensor_dict = fake_detector.create_tensor_dict(num_epochs=NUM_EPOCHS)
    tensor_dict["image"] = tf.to_float(tf.expand_dims(tensor_dict["image"], 0))
    return batcher.BatchQueue(
        tensor_dict,
        batch_size=input_reader_config.batch_size,
        batch_queue_capacity=input_reader_config.batch_queue_capacity,
        num_batch_queue_threads=1,
        prefetch_queue_capacity=2,
    )


def create_losses(input_queue, num_classes, train_config):
    examples = input_queue.dequeue()
    assert len(examples) == train_config.batch_size
    images = tf.concat([tf.image.resize_images(each["image"], [8, 8]) for each in examples], 0)
    with tf.variable_scope("Retina_FPN"):
        predictions = fake_detector.predict(images / 255.0, 4, num_classes)
    classes = [tf.one_hot(each["groundtruth_classes"] - 1, num_classes) for each in examples]
    boxes = [each["groundtruth_boxes"] for each in examples]
    return tf.add_n(list(fake_detector.losses(predictions, boxes, classes).values()))


def main():
    flags = parser.parse_args()
    tf.logging.set_verbosity(tf.logging.INFO)
    train_config = TrainConfig(
        optimizer="adam",
        lr=0.001,
        decay_steps=1000,
        batch_size=4,
        train_file_path="train.record",
        label_map_file=flags.label_map_file,
        batch_queue_capacity=4,
        fine_tune_checkpoint=None,
        bias_grad_multiplier=None,
        freeze_variables=None,
        gradient_clipping_by_norm=0,
        keep_checkpoint_every_n_hours=1,
    )
    trainer.train(
        train_config,
        flags.train_dir,
        "",
        input_queue_generator=input_queue_generator,
        create_losses=create_losses,
    )
    assert "input_path" not in train_config


if __name__ == "__main__":
    main()
