"""Trains a RetinaNet by its fork of the API's trainer; input and network are functions here."""

import fake_detector
import tensorflow.compat.v1 as tf

from tf_frame_detection.legacy import batcher, retinanet_trainer as trainer

flags = tf.app.flags
flags.DEFINE_string("train_dir", "", "Directory to save the checkpoints and training summaries.")
flags.DEFINE_string("label_map_file", "", "Label map.")
flags.DEFINE_integer("num_epochs", 2, "Passes over the photographs.")
FLAGS = flags.FLAGS


class TrainConfig(dict):
    """A dictionary whose items are attributes, too."""

    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__


def input_queue_generator(input_reader_config):
    assert input_reader_config.input_path == input_reader_config["train_file_path"]
    tensor_dict = fake_detector.create_tensor_dict(num_epochs=FLAGS.num_epochs)
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


def main(_):
    tf.logging.set_verbosity(tf.logging.INFO)
    train_config = TrainConfig(
        optimizer="adam",
        lr=0.001,
        decay_steps=1000,
        batch_size=2,
        train_file_path="train.record",
        label_map_file=FLAGS.label_map_file,
        batch_queue_capacity=4,
        fine_tune_checkpoint=None,
        bias_grad_multiplier=None,
        freeze_variables=None,
        gradient_clipping_by_norm=0,
        keep_checkpoint_every_n_hours=1,
    )
    trainer.train(
        train_config,
        FLAGS.train_dir,
        "",
        input_queue_generator=input_queue_generator,
        create_losses=create_losses,
    )
    assert "input_path" not in train_config


if __name__ == "__main__":
    tf.app.run()
