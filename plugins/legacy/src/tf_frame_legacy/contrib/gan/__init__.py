"""`tf.contrib.gan`, without the classifiers of `eval` that need files of their own.

model = gan.gan_model(generator_fn, discriminator_fn, real_data, noise)
loss = gan.gan_loss(model)
train_ops = gan.gan_train_ops(model, loss, generator_optimizer, discriminator_optimizer)
gan.gan_train(train_ops, logdir, hooks=[tf.train.StopAtStepHook(num_steps=1000)])
"""

from tf_frame_legacy.contrib.gan import (
    estimator as estimator,
    evaluation as evaluation,
    features as features,
    losses as losses,
)
from tf_frame_legacy.contrib.gan.models import (
    acgan_model as acgan_model,
    cyclegan_model as cyclegan_model,
    gan_model as gan_model,
    infogan_model as infogan_model,
)
from tf_frame_legacy.contrib.gan.train import (
    RunTrainOpsHook as RunTrainOpsHook,
    cyclegan_loss as cyclegan_loss,
    gan_loss as gan_loss,
    gan_train as gan_train,
    gan_train_ops as gan_train_ops,
    get_joint_train_hooks as get_joint_train_hooks,
    get_sequential_train_hooks as get_sequential_train_hooks,
    get_sequential_train_steps as get_sequential_train_steps,
)
from tf_frame_legacy.contrib.gan.tuples import (
    ACGANModel as ACGANModel,
    CycleGANLoss as CycleGANLoss,
    CycleGANModel as CycleGANModel,
    GANLoss as GANLoss,
    GANModel as GANModel,
    GANTrainOps as GANTrainOps,
    GANTrainSteps as GANTrainSteps,
    InfoGANModel as InfoGANModel,
)
