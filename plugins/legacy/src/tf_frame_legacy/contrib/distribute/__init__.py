"""`tf.contrib.distribute` on one machine: clones of a model function on several devices.

    strategy = distribute.MirroredStrategy(num_gpus=2)
    config = tf.estimator.RunConfig(train_distribute=strategy)
    tf.estimator.Estimator(model_fn, config=config).train(input_fn)

Each device reads batches of its own, as with the original: a step with two devices takes two
batches of the input function.
"""

from tf_frame_legacy.contrib.distribute.strategies import (
    MirroredStrategy as MirroredStrategy,
    OneDeviceStrategy as OneDeviceStrategy,
)
