"""Plugins that each break one rule of their contract, which one check of the suites finds.

Each class has the name of the rule that it breaks. `healthy` has the plugins that they are made of.
"""


class _TensorFlow:
    """TensorFlow, imported at the first use, as a plugin must not import it when it is loaded."""

    def __getattr__(self, name):
        import tensorflow.compat.v1

        return getattr(tensorflow.compat.v1, name)


tf = _TensorFlow()
