"""Text recognition for tf-frame: rectification, CTC, attention, inputs, evaluation.

$ tf-frame run --plugin recognition
"""

__version__ = "0.1.0"
