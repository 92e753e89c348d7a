"""Which variables an optimizer treats differently, by patterns of their names."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence

from tf_frame.errors import ConfigError, UnmatchedPatternWarning

# Biases and the scales and offsets of normalisation, as the layers of slim, Keras and BERT call
# them. To decay these does not regularise (He et al., Bag of Tricks, arXiv:1812.01187, 3.1).
NOT_WEIGHTS = ("bias", "BatchNorm", "batch_normalization", "LayerNorm", "layer_norm")


class NamePatterns:
    """Regular expressions, each searched for anywhere in a variable's name.

    Args:
      patterns: the expressions.
      option: the option that they come from, for messages.

    Raises:
      ConfigError: one of them is no regular expression.
    """

    def __init__(self, patterns: Sequence[str], *, option: str) -> None:
        self._option = option
        try:
            self._compiled = [re.compile(pattern) for pattern in patterns]
        except re.error as error:
            raise ConfigError(
                f"--{option}: {error.pattern!r} is not a regular expression: {error}"
            ) from None

    def match(self, name: str) -> bool:
        """Whether one of the patterns is found in `name`."""
        return any(pattern.search(name) for pattern in self._compiled)

    def warn_unmatched(self, names: Sequence[str]) -> None:
        """Warns of each pattern, other than the default ones, that no name contains."""
        for pattern in self._compiled:
            if pattern.pattern in NOT_WEIGHTS or any(map(pattern.search, names)):
                continue
            warnings.warn(
                f"--{self._option}: {pattern.pattern!r} matches none of the {len(names)} "
                f"trained variables, such as {names[0]}",
                UnmatchedPatternWarning,
                stacklevel=2,
            )
