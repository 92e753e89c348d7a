"""`tf.contrib.eager`: iterators, networks, metrics and savers of programs with eager execution."""

from tf_frame_legacy.contrib.eager import metrics as metrics
from tf_frame_legacy.contrib.eager.iterator import Iterator as Iterator
from tf_frame_legacy.contrib.eager.network import Network as Network, Sequential as Sequential
from tf_frame_legacy.contrib.eager.saver import (
    Saver as Saver,
    get_optimizer_variables as get_optimizer_variables,
    list_devices as list_devices,
)
