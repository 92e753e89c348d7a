"""DeepLabV3+ for tf-frame: a model, a sample input and a gradient transform.

$ tf-frame run --plugin deeplab
"""

__version__ = "0.1.0"
