"""tf.contrib.gan."""

from tf_frame_legacy.names.row import not_offered, reimplemented

_GAN = "tf.contrib.gan"
_PYTHON = f"{_GAN}.python"
_OURS = "tf_frame_legacy.contrib.gan"
_LOSSES = (
    "acgan_discriminator_loss acgan_generator_loss combine_adversarial_loss cycle_consistency_loss "
    "least_squares_discriminator_loss least_squares_generator_loss minimax_discriminator_loss "
    "minimax_generator_loss modified_discriminator_loss modified_generator_loss "
    "mutual_information_penalty wasserstein_discriminator_loss wasserstein_generator_loss "
    "wasserstein_gradient_penalty wasserstein_hinge_discriminator_loss "
    "wasserstein_hinge_generator_loss"
)
_WARGS = (f"{_GAN}.losses.wargs", f"{_PYTHON}.losses.python.losses_wargs")

ROWS = [
    *reimplemented(
        (_GAN, f"{_PYTHON}.namedtuples", f"{_GAN}.namedtuples"),
        _OURS,
        "ACGANModel CycleGANLoss CycleGANModel GANLoss GANModel GANTrainOps GANTrainSteps "
        "InfoGANModel",
    ),
    *reimplemented(
        (_GAN, f"{_PYTHON}.train", f"{_GAN}.train"),
        _OURS,
        "RunTrainOpsHook acgan_model cyclegan_loss cyclegan_model gan_loss gan_model gan_train "
        "gan_train_ops get_joint_train_hooks get_sequential_train_hooks get_sequential_train_steps "
        "infogan_model",
    ),
    *reimplemented(
        (f"{_GAN}.losses", f"{_PYTHON}.losses.python.tuple_losses"), f"{_OURS}.losses", _LOSSES
    ),
    *reimplemented(
        (*_WARGS, f"{_PYTHON}.losses.python.losses_impl"), f"{_OURS}.losses.wargs", _LOSSES
    ),
    *reimplemented(
        (f"{_GAN}.estimator", f"{_PYTHON}.estimator.python.gan_estimator"),
        f"{_OURS}.estimator",
        "GANEstimator SummaryType",
    ),
    *reimplemented(
        (f"{_GAN}.eval", f"{_PYTHON}.eval.python.summaries", f"{_PYTHON}.eval.python.eval_utils"),
        f"{_OURS}.evaluation",
        "add_gan_model_image_summaries add_gan_model_summaries add_image_comparison_summaries "
        "add_regularization_loss_summaries image_grid image_reshaper",
    ),
    *reimplemented(
        f"{_GAN}.features",
        f"{_OURS}.features",
        "clip_discriminator_weights clip_variables condition_tensor condition_tensor_from_onehot "
        "tensor_pool",
    ),
    *not_offered(
        f"{_GAN}.eval",
        "*",
        "classifiers of a file that TensorFlow does not offer any more; load a graph by "
        "tf.import_graph_def",
    ),
    *not_offered(
        f"{_GAN}.features",
        "*",
        "hardly used; write spectral or virtual batch normalization in the model",
    ),
    *not_offered(f"{_GAN}.estimator", "*", "use GANEstimator, or a model function"),
    *not_offered(
        _GAN,
        "StarGANModel stargan_loss stargan_model",
        "hardly used; use acgan_model, or write the losses in the model function",
    ),
]
