"""Parts that image plugins of tf-frame share.

A plugin for one task, such as classification or deeplab, then adds only its model and its data.

    networks       slim's networks by name, as classifiers and as backbones
    nets           the same networks as slim's functions, with slim's arguments
    preprocessing  from a decoded image to what a network takes, as slim does
    augmentation   random changes of an image together with its masks, boxes and points
    reading        image files and TFRecords: index, exact shuffling, damaged examples
    drawing        colours of classes, overlays, PNG files

Importing the package, `networks` or `preprocessing` does not import TensorFlow: `--help` and the
list of plugins answer at once.
"""

__version__ = "0.1.0"
# Its networks and preprocessing win over those of other packages with the same names.
DISTRIBUTION = "tf-frame-vision"
