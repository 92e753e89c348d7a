"""Object detection for tf-frame: SSD, RetinaNet and rotated boxes, inputs, evaluation.

$ tf-frame run --plugin detection
"""

__version__ = "0.1.0"
