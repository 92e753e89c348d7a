"""Numbers of SSD's feature maps; apart from the layers, for options that TensorFlow need not know.

Source: tensorflow/models, research/object_detection/models/ssd_mobilenet_v2_feature_extractor.py.
"""

# Strides of the maps of the backbone.
STRIDES = (16, 32)
# Channels of the maps after these, for a depth multiplier of 1.
DEPTHS = (512, 256, 256, 128)
MIN_MAPS, MAX_MAPS = len(STRIDES), len(STRIDES) + len(DEPTHS)
