"""Changes of training images that boxes, rotated boxes, classes and flags follow.

`named` applies them by name and in order, as the object detection API's
`data_augmentation_options`; random numbers follow from a seed.
"""
