"""tf.contrib.lookup."""

from tf_frame_legacy.names.row import alias, reimplemented

_MODULES = ("tf.contrib.lookup", "tf.contrib.lookup.lookup_ops")

ROWS = [
    *reimplemented(
        _MODULES,
        "tf_frame_legacy.contrib.lookup",
        "HashTable index_table_from_tensor index_to_string index_to_string_table_from_tensor "
        "string_to_index string_to_index_table_from_file string_to_index_table_from_tensor",
    ),
    *alias(
        _MODULES,
        "tensorflow.python.ops.lookup_ops",
        "FastHashSpec HasherSpec IdTableWithHashBuckets InitializableLookupTableBase "
        "KeyValueTensorInitializer LookupInterface MutableDenseHashTable=DenseHashTable "
        "MutableHashTable StrongHashSpec TableInitializerBase TextFileIdTableInitializer "
        "TextFileIndex TextFileInitializer TextFileStringTableInitializer index_table_from_file "
        "index_to_string_table_from_file",
    ),
]
