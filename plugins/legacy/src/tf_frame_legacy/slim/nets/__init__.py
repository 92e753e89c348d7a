"""The networks of `tf.contrib.slim.nets` and `tf_slim.nets`, on those of tf-frame-vision.

    from tf_frame_legacy.slim.nets import resnet_v1  # was: from tensorflow.contrib.slim.nets ...

    with slim.arg_scope(resnet_utils.resnet_arg_scope()):
        net, end_points = resnet_v1.resnet_v1_50(images, num_classes=1000)

The residual networks keep height and width of the logits, `[batch, 1, 1, classes]`, as these
modules did and those of tensorflow/models did not.
"""

try:
    import tf_frame_vision.nets as _networks  # noqa: F401
except ImportError as error:
    raise ImportError("slim.nets needs the plugin: pip install tf-frame-vision") from error

from tf_frame_legacy.slim.nets import (
    inception as inception,
    overfeat as overfeat,
    resnet_utils as resnet_utils,
    resnet_v1 as resnet_v1,
    resnet_v2 as resnet_v2,
)
from tf_frame_vision.nets import alexnet as alexnet, vgg as vgg
