"""The old names, thin: for code that was written for slim's and DeepLab's trainers.

    from tf_frame.legacy import slim              # was: import tf_slim as slim
    from tf_frame.legacy import learning          # was: slim.learning
    from tf_frame.legacy import model_deploy      # was: from deployment import model_deploy
    from tf_frame.legacy import training          # was: tf.contrib.training
    from tf_frame.legacy import train_utils       # was: from deeplab.utils import train_utils
    from tf_frame.legacy import variables_helper  # was: from object_detection.utils import ...

Importing these modules imports TensorFlow.
"""
