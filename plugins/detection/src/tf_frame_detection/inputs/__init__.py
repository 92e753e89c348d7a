"""Inputs of images with boxes.

`annotations` and `photographs` find and check the files of a data set without TensorFlow, before a
run starts; `annotated_images` and `detection_input` make the features and labels.
"""
