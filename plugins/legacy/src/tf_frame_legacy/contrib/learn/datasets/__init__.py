"""`tf.contrib.learn.datasets`: tables in CSV files, and MNIST."""

from tf_frame_legacy.contrib.learn.datasets import base as base, mnist as mnist
