"""Reading of images and records one by one, so that a damaged one can be named and left out.

    folders       data folders and shards of a data set
    record_index  where the records of a TFRecord file are
    examples      an example as it is read, with the problem that it may have
    records       examples of TFRecord files
    image_files   examples of image files, and images to predict on
    skipped       examples that are left out: counted and reported
    pipeline      order of examples, and batches of them

`folders` and `record_index` do not import TensorFlow. `tf_frame_vision.example_input` puts
the others together.
"""
