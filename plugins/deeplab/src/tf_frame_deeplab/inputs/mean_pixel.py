"""Mean pixels in DeepLab: deeplab/core/feature_extractor.py of tensorflow/models.

MEAN_PIXEL is the grey of what lies beyond an image, the mean for MobileNet and Xception; MEAN_RGB
is what a ResNet without the beta in its name is given the difference to.
"""

MEAN_PIXEL = 127.5
MEAN_RGB = (123.15, 115.9, 103.06)
