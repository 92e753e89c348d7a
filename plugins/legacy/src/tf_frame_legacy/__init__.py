"""The names of slim, the Object Detection API, DeepLab's trainers and tf.estimator.

Existing scripts change their imports, keep the rest, and run on the functions of tf-frame:

    from tf_frame_legacy import slim              # was: import tf_slim as slim
    from tf_frame_legacy import batcher           # was: from object_detection.core import batcher
    from tf_frame_legacy import learning          # was: slim.learning
    from tf_frame_legacy import model_deploy      # was: from deployment import model_deploy
    from tf_frame_legacy import training          # was: tf.contrib.training
    from tf_frame_legacy import train_utils       # was: from deeplab.utils import train_utils
    from tf_frame_legacy import variables_helper  # was: from object_detection.utils import ...
    from tf_frame_legacy import estimator         # was: tf.estimator
    from tf_frame_legacy import layers            # was: tf.layers
    from tf_frame_legacy import quantize          # was: tf.contrib.quantize
    from tf_frame_legacy.server import Server     # was: tf.train.Server
    from tf_frame_legacy.sync_replicas import SyncReplicasOptimizer  # was: in tf.train

Importing the modules imports TensorFlow.
"""
