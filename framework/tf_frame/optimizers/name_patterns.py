"""Regular expressions of the variables that AdamW and LAMB exclude from decay or scaling.

By default these are biases and the scales and offsets of normalisation: their decay does not
regularise (He et al., Bag of Tricks, arXiv:1812.01187, 3.1), and LAMB's steps, in proportion to a
variable's norm, hardly move a bias near 0.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence

from tf_frame.errors import ConfigError, UnmatchedPatternWarning
from tf_frame.text import brief

# Parts of names in slim, Keras and BERT.
NOT_WEIGHTS = ("bias", "BatchNorm", "batch_normalization", "LayerNorm", "layer_norm")


class NamePatterns:
    """Regular expressions that may match anywhere in a variable's name.

    Args:
      patterns: the expressions.
      option: name of the option, for messages.

    Raises:
      ConfigError: a pattern is not a regular expression.
    """

    def __init__(self, patterns: Sequence[str], *, option: str) -> None:
        self._option = option
        try:
            self._compiled = [re.compile(pattern) for pattern in patterns]
        except re.error as error:
            raise ConfigError(
                f"--{option}: {brief(error.pattern)} is not a regular expression: {error}"
            ) from None

    def match(self, name: str) -> bool:
        """Returns whether a pattern matches somewhere in `name`."""
        return any(pattern.search(name) for pattern in self._compiled)

    def warn_unmatched(self, names: Sequence[str]) -> None:
        """Warns of each pattern, other than the default ones, that matches no name."""
        for pattern in self._compiled:
            if pattern.pattern in NOT_WEIGHTS or any(map(pattern.search, names)):
                continue
            warnings.warn(
                f"--{self._option}: {brief(pattern.pattern)} matches none of the {len(names)} "
                f"trained variables, such as {names[0]}",
                UnmatchedPatternWarning,
                stacklevel=2,
            )
