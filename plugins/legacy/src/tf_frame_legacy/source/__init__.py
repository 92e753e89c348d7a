"""Reads the sources of old programs: `tf-frame legacy check` and `tf-frame legacy convert`.

Nothing here imports TensorFlow or the program: names are resolved in the syntax trees, and looked
up in the table of names and in the files of the installed packages.
"""
