"""Inputs of labelled images: Fashion-MNIST and MNIST, CIFAR-10, image folders, TFRecords.

The modules that entry points name do not import TensorFlow, so that `--help` answers at once;
`examples` does.
"""
