"""Options: one dataclass defines the command-line flags, the YAML keys and the help."""

from tf_frame.config.option import Option, option, options_of

__all__ = ["Option", "option", "options_of"]
