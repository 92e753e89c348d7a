"""Batches of the second generation, from tf.data."""

import os.path

import common
import preprocess
import segmentation_dataset
import tensorflow.compat.v1 as tf


class Dataset:
    """Represents input dataset for deeplab model."""

    def __init__(
        self,
        dataset_name,
        split_name,
        dataset_dir,
        batch_size,
        crop_size,
        min_scale_factor=1.0,
        max_scale_factor=1.0,
        scale_factor_step_size=0,
        model_variant=None,
        num_readers=1,
        is_training=False,
        should_shuffle=False,
        should_repeat=False,
    ):
        information = segmentation_dataset.get_information(dataset_name, split_name)
        if model_variant is None:
            tf.logging.warning("Please specify a model_variant.")
        self.split_name = split_name
        self.dataset_dir = dataset_dir
        self.batch_size = batch_size
        self.crop_size = crop_size
        self.scales = (min_scale_factor, max_scale_factor, scale_factor_step_size)
        self.num_readers = num_readers
        self.is_training = is_training
        self.should_shuffle = should_shuffle
        self.should_repeat = should_repeat
        self.num_of_classes = information.num_classes
        self.ignore_label = information.ignore_label

    def _parse_function(self, example_proto):
        features = {
            "image/encoded": tf.FixedLenFeature((), tf.string, default_value=""),
            "image/filename": tf.FixedLenFeature((), tf.string, default_value=""),
            "image/segmentation/class/encoded": tf.FixedLenFeature((), tf.string, default_value=""),
        }
        parsed = tf.parse_single_example(example_proto, features)
        image = tf.image.decode_png(parsed["image/encoded"], channels=3)
        label = tf.image.decode_png(parsed["image/segmentation/class/encoded"], channels=1)
        return {
            common.IMAGE: image,
            common.IMAGE_NAME: parsed["image/filename"],
            common.LABEL: label,
        }

    def _preprocess_image(self, sample):
        low, high, step = self.scales
        image, label = preprocess.preprocess_image_and_label(
            sample[common.IMAGE],
            sample[common.LABEL],
            crop_height=self.crop_size[0],
            crop_width=self.crop_size[1],
            min_scale_factor=low,
            max_scale_factor=high,
            scale_factor_step_size=step,
            ignore_label=self.ignore_label,
            is_training=self.is_training,
        )
        return {**sample, common.IMAGE: image, common.LABEL: label}

    def get_one_shot_iterator(self):
        files = tf.gfile.Glob(os.path.join(self.dataset_dir, f"{self.split_name}-*"))
        dataset = (
            tf.data.TFRecordDataset(files, num_parallel_reads=self.num_readers)
            .map(self._parse_function, num_parallel_calls=self.num_readers)
            .map(self._preprocess_image, num_parallel_calls=self.num_readers)
        )
        if self.should_shuffle:
            dataset = dataset.shuffle(buffer_size=100)
        dataset = dataset.repeat() if self.should_repeat else dataset.repeat(1)
        dataset = dataset.batch(self.batch_size).prefetch(self.batch_size)
        return tf.data.make_one_shot_iterator(dataset)
