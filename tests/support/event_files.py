"""Reads the event files in a folder."""

import tensorflow.compat.v1 as tf


def events(folder):
    tf.summary.FileWriterCache.clear()  # Closes the files; else a part of them is in memory.
    paths = sorted(folder.glob("events.*"))
    return [event for path in paths for event in tf.train.summary_iterator(str(path))]


def summaries(folder):
    """The step of each value of the summaries, and the value."""
    return [(event.step, value) for event in events(folder) for value in event.summary.value]


def summary_tags(folder):
    return {value.tag for _, value in summaries(folder)}


def scalars(folder, tag):
    return [(step, value.simple_value) for step, value in summaries(folder) if value.tag == tag]
