"""Residual networks, version 1, with the arguments of `tf.contrib.slim.nets.resnet_v1`."""

from tf_frame_legacy.slim.nets.resnet_utils import (
    network_of_layers,
    networks_of_blocks,
    resnet_arg_scope as resnet_arg_scope,
)
from tf_frame_vision.nets import resnet_v1 as _networks
from tf_frame_vision.nets.resnet_v1 import (
    bottleneck as bottleneck,
    resnet_v1_block as resnet_v1_block,
)

resnet_v1 = networks_of_blocks(_networks.resnet_v1)
resnet_v1_50 = network_of_layers(_networks.resnet_v1_50)
resnet_v1_101 = network_of_layers(_networks.resnet_v1_101)
resnet_v1_152 = network_of_layers(_networks.resnet_v1_152)
resnet_v1_200 = network_of_layers(_networks.resnet_v1_200)
