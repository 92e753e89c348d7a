"""Flags and names that DeepLab's scripts share; only the imports are tf-frame's."""

import collections

import tensorflow.compat.v1 as tf

flags = tf.app.flags

flags.DEFINE_integer("min_resize_value", None, "Desired size of the smaller image side.")
flags.DEFINE_integer("max_resize_value", None, "Maximum allowed size of the larger image side.")
flags.DEFINE_integer("resize_factor", None, "Resized dimensions are multiple of factor plus one.")
flags.DEFINE_string("model_variant", "small_net", "DeepLab model variant.")
flags.DEFINE_multi_float("image_pyramid", None, "Input scales for multi-scale features.")

FLAGS = flags.FLAGS

OUTPUT_TYPE = "semantic"
LABELS_CLASS = "labels_class"
IMAGE = "image"
HEIGHT = "height"
WIDTH = "width"
IMAGE_NAME = "image_name"
LABEL = "label"

ModelOptions = collections.namedtuple(
    "ModelOptions", ["outputs_to_num_classes", "crop_size", "atrous_rates", "output_stride"]
)
