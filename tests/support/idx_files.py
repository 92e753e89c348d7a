"""The format idx of MNIST."""

import numpy as np


def encode_idx(array):
    """Returns an array of bytes as the content of an idx file."""
    sizes = np.array(array.shape, ">i4").tobytes()
    return bytes([0, 0, 8, array.ndim]) + sizes + array.astype(np.uint8).tobytes()
