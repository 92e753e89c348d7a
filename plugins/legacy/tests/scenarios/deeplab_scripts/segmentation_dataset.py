"""Data sets of both generations; in the first one slim reads their TFRecords through queues."""

import collections
import os.path

import tensorflow.compat.v1 as tf

from tf_frame_legacy import slim

dataset = slim.dataset
tfexample_decoder = slim.tfexample_decoder

DatasetDescriptor = collections.namedtuple(
    "DatasetDescriptor", ["splits_to_sizes", "num_classes", "ignore_label"]
)

_DATASETS_INFORMATION = {
    "nuclei": DatasetDescriptor(
        splits_to_sizes={"train": 12, "val": 4}, num_classes=2, ignore_label=255
    )
}


def get_information(dataset_name, split_name):
    if dataset_name not in _DATASETS_INFORMATION:
        raise ValueError("The specified dataset is not supported yet.")
    information = _DATASETS_INFORMATION[dataset_name]
    if split_name not in information.splits_to_sizes:
        raise ValueError(f"data split name {split_name} not recognized")
    return information


def get_dataset(dataset_name, split_name, dataset_dir):
    information = get_information(dataset_name, split_name)
    text = {"format_key": "image/format", "channels": 3}
    label = {"format_key": "image/segmentation/class/format", "channels": 1}
    keys_to_features = {
        "image/encoded": tf.FixedLenFeature((), tf.string, default_value=""),
        "image/filename": tf.FixedLenFeature((), tf.string, default_value=""),
        "image/format": tf.FixedLenFeature((), tf.string, default_value="jpeg"),
        "image/height": tf.FixedLenFeature((), tf.int64, default_value=0),
        "image/width": tf.FixedLenFeature((), tf.int64, default_value=0),
        "image/segmentation/class/encoded": tf.FixedLenFeature((), tf.string, default_value=""),
        "image/segmentation/class/format": tf.FixedLenFeature((), tf.string, default_value="png"),
    }
    items_to_handlers = {
        "image": tfexample_decoder.Image(image_key="image/encoded", **text),
        "image_name": tfexample_decoder.Tensor("image/filename"),
        "height": tfexample_decoder.Tensor("image/height"),
        "width": tfexample_decoder.Tensor("image/width"),
        "labels_class": tfexample_decoder.Image(
            image_key="image/segmentation/class/encoded", **label
        ),
    }
    return dataset.Dataset(
        data_sources=os.path.join(dataset_dir, f"{split_name}-*"),
        reader=tf.TFRecordReader,
        decoder=tfexample_decoder.TFExampleDecoder(keys_to_features, items_to_handlers),
        num_samples=information.splits_to_sizes[split_name],
        items_to_descriptions={
            "image": "A color image of varying height and width.",
            "labels_class": "A semantic segmentation label of the same size.",
        },
        ignore_label=information.ignore_label,
        num_classes=information.num_classes,
        name=dataset_name,
        multi_label=True,
    )
