"""Mean pixels in DeepLab: deeplab/core/feature_extractor.py of tensorflow/models.

MEAN_PIXEL is the grey of padding, and the mean for MobileNet and Xception. A ResNet without beta in
its name subtracts MEAN_RGB.
"""

MEAN_PIXEL = 127.5
MEAN_RGB = (123.15, 115.9, 103.06)
