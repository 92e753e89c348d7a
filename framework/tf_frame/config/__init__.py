"""Configuration: dataclasses, command-line flags and YAML from one definition."""

from tf_frame.config.option import Option, option, options_of

__all__ = ["Option", "option", "options_of"]
