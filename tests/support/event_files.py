"""Reads the event files in a folder."""

from tf_frame.testing.events import read_events as events


def summaries(folder):
    """The step of each value of the summaries, and the value."""
    return [(event.step, value) for event in events(folder) for value in event.summary.value]


def summary_tags(folder):
    return {value.tag for _, value in summaries(folder)}


def scalars(folder, tag):
    return [(step, value.simple_value) for step, value in summaries(folder) if value.tag == tag]
