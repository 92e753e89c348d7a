"""Grey of what lies beyond an image: the mean pixel of MobileNet and Xception in DeepLab.

Source: deeplab/core/feature_extractor.py of tensorflow/models.
"""

MEAN_PIXEL = 127.5
