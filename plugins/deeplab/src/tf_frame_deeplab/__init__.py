"""DeepLabV3+ (semantic segmentation) for tf-frame: a model, a sample input, a gradient transform.

$ tf-frame run --plugin deeplab
"""

__version__ = "0.1.0"
