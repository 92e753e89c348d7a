"""Options: one dataclass defines the command-line flags, the YAML keys and the help."""

from tf_frame.config.option import Option, declared_options, option

__all__ = ["Option", "declared_options", "option"]
