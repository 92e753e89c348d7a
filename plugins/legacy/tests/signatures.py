"""Signatures of old functions, for comparisons with those of their originals."""

import inspect


def list_arguments(function):
    """Returns the arguments of a function with their defaults, in order, as one line."""
    parameters = inspect.signature(function).parameters.values()
    bare = [p.replace(annotation=p.empty) for p in parameters if p.name != "self"]
    return str(inspect.Signature(bare))[1:-1]
