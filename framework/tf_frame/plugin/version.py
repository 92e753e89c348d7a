"""Whether a plugin's package was made for this version of tf-frame."""

from __future__ import annotations

import re
from collections.abc import Iterable

import tf_frame


def incompatibility(requirements: Iterable[str]) -> str:
    """Compares a package's requirements with this tf-frame.

    Args:
      requirements: lines of its metadata, such as `tf-frame<0.2,>=0.1`.

    Returns:
      What does not fit, or an empty text.
    """
    from packaging.requirements import InvalidRequirement, Requirement

    for line in requirements:
        if not re.match(r"tf[-_.]+frame(?![-_.\w])", line, re.IGNORECASE):
            continue
        try:
            requirement = Requirement(line)
        except InvalidRequirement as error:
            return f"its requirement {line!r} cannot be read: {error}"
        specifier, marker = requirement.specifier, requirement.marker
        if marker is not None and not marker.evaluate({"extra": ""}):
            continue
        if not specifier.contains(tf_frame.__version__, prereleases=True):
            return f"it needs tf-frame{specifier}, this is tf-frame {tf_frame.__version__}"
    return ""
