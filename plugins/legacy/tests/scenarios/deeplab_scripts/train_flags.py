"""Flags of both trainers."""

import tensorflow.compat.v1 as tf

flags = tf.app.flags

flags.DEFINE_string("master", "", "BNS name of the tensorflow server")
flags.DEFINE_integer("task", 0, "The task ID.")
flags.DEFINE_integer("num_clones", 1, "Number of clones to deploy.")
flags.DEFINE_boolean("clone_on_cpu", False, "Use CPUs to deploy clones.")
flags.DEFINE_integer("num_replicas", 1, "Number of worker replicas.")
flags.DEFINE_integer("num_ps_tasks", 0, "The number of parameter servers.")
flags.DEFINE_integer("startup_delay_steps", 15, "Training steps between replicas startup.")

flags.DEFINE_string("train_logdir", None, "Where the checkpoint and logs are stored.")
flags.DEFINE_integer("log_steps", 10, "Display logging information at every log_steps.")
flags.DEFINE_integer("save_interval_secs", 1200, "How often we save the model to disk.")
flags.DEFINE_integer("save_summaries_secs", 600, "How often we compute the summaries.")
flags.DEFINE_boolean("save_summaries_images", False, "Save images of samples as summaries.")
flags.DEFINE_string("profile_logdir", None, "Where the profile files are stored.")

flags.DEFINE_enum("learning_policy", "poly", ["poly", "step"], "Learning rate policy.")
flags.DEFINE_float("base_learning_rate", 0.0001, "The base learning rate for model training.")
flags.DEFINE_float("learning_rate_decay_factor", 0.1, "The rate of decay.")
flags.DEFINE_integer("learning_rate_decay_step", 2000, "Decay at a fixed step.")
flags.DEFINE_float("learning_power", 0.9, "The power value used in the poly learning policy.")
flags.DEFINE_integer("training_number_of_steps", 30000, "Steps used for training")
flags.DEFINE_float("momentum", 0.9, "The momentum value to use")
flags.DEFINE_enum("optimizer", "momentum", ["momentum", "adam"], "Which optimizer to use.")
flags.DEFINE_float("adam_learning_rate", 0.001, "Learning rate for the adam optimizer.")
flags.DEFINE_float("adam_epsilon", 1e-08, "Adam optimizer epsilon.")
flags.DEFINE_float("end_learning_rate", 0.0, "Learning rate at the end of poly.")
flags.DEFINE_float("decay_steps", 0.0, "Length of poly; 0: training_number_of_steps.")
flags.DEFINE_integer("train_batch_size", 8, "The number of images in each batch.")
flags.DEFINE_float("weight_decay", 0.00004, "The value of the weight decay for training.")
flags.DEFINE_list("train_crop_size", "513,513", "Image crop size during training.")
flags.DEFINE_float("last_layer_gradient_multiplier", 1.0, "Boosts the last layers.")
flags.DEFINE_boolean("upsample_logits", True, "Upsample logits during training.")

flags.DEFINE_string("tf_initial_checkpoint", None, "The initial checkpoint.")
flags.DEFINE_boolean("initialize_last_layer", True, "Initialize the last layer.")
flags.DEFINE_boolean("last_layers_contain_logits_only", False, "Only logits are last layers.")
flags.DEFINE_integer("slow_start_step", 0, "Training with small learning rate for few steps.")
flags.DEFINE_float("slow_start_learning_rate", 1e-4, "Learning rate during slow start.")
flags.DEFINE_boolean("fine_tune_batch_norm", True, "Fine tune the batch norm parameters.")
flags.DEFINE_float("min_scale_factor", 0.5, "Minimum scale factor for data augmentation.")
flags.DEFINE_float("max_scale_factor", 2.0, "Maximum scale factor for data augmentation.")
flags.DEFINE_float("scale_factor_step_size", 0.25, "Scale factor step size.")
flags.DEFINE_multi_integer("atrous_rates", None, "Rates for atrous spatial pyramid pooling.")
flags.DEFINE_integer("output_stride", 16, "The ratio of input to output resolution.")
flags.DEFINE_integer("hard_example_mining_step", 0, "Step at which mining is complete.")
flags.DEFINE_float("top_k_percent_pixels", 1.0, "Share of the pixels of the greatest loss.")
flags.DEFINE_integer("quantize_delay_step", -1, "Step to start quantized training at.")

flags.DEFINE_string("dataset", "pascal_voc_seg", "Name of the segmentation dataset.")
flags.DEFINE_string("train_split", "train", "Which split is used for training")
flags.DEFINE_string("dataset_dir", None, "Where the dataset resides.")

FLAGS = flags.FLAGS
