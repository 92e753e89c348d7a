"""Reading of image files and TFRecords, one example at a time, damaged ones named.

For inputs of large data sets: they are shuffled as a whole without a buffer, a resumed run
continues with the next example, and a damaged example ends a run with its name, or is skipped.

    folders       folders and files of a data set
    splits        the parts of a data set by their names
    inside        paths that data files name
    class_names   names of the classes
    shards        files of a data set that is divided into several
    cache         keeps facts about the data next to the data
    scan          examines files in parallel, and keeps the results
    copies        files of the same content
    headers       headers of image files, by a scan
    damage        parts that cannot be used: named, or left out and counted
    record_index  byte offsets of the records of a TFRecord file
    record_cache  keeps these offsets, and gzipped files unpacked
    array_cache, spool
                  keep numbers and values of large files out of the memory
    image_header, exif
                  size as shown, orientation and format of an image file
    orientation   turns pixels and points from an image as stored to the image as shown
    pixels        pixels of an image file as other programs show them
    decoding, turning
                  the same in the graph of an input pipeline
    export_decoding, image_bytes
                  the same in an exported model, by operations alone
    examples      examples with their fields, name and problem
    records       examples of TFRecord files
    image_files   examples of image files, and images to predict on
    skipped       examples that are left out: counted and reported
    arrays        long lists of names and numbers, outside of the graph
    pipeline      order of examples, and batches of them

Those above `decoding` do not import TensorFlow.
`tf_frame_vision.example_input` is the base class of inputs that use all of them.
"""
