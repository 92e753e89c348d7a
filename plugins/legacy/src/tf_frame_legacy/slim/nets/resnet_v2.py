"""Residual networks, version 2, with the arguments of `tf.contrib.slim.nets.resnet_v2`."""

from tf_frame_legacy.slim.nets.resnet_utils import (
    network_of_layers,
    networks_of_blocks,
    resnet_arg_scope as resnet_arg_scope,
)
from tf_frame_vision.nets import resnet_v2 as _networks
from tf_frame_vision.nets.resnet_v2 import (
    bottleneck as bottleneck,
    resnet_v2_block as resnet_v2_block,
)

resnet_v2 = networks_of_blocks(_networks.resnet_v2)
resnet_v2_50 = network_of_layers(_networks.resnet_v2_50)
resnet_v2_101 = network_of_layers(_networks.resnet_v2_101)
resnet_v2_152 = network_of_layers(_networks.resnet_v2_152)
resnet_v2_200 = network_of_layers(_networks.resnet_v2_200)
