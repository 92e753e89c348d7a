"""Compares the requirements of packages with the packages that are installed.

The functions take the lines of a package's metadata, such as `tf-frame<0.2,>=0.1`.
"""

from __future__ import annotations

import functools
import importlib.metadata
import re
from collections.abc import Callable, Iterable
from typing import Any

import tf_frame
from tf_frame.plugin.packages import is_own, metadata_fields
from tf_frame.text import brief

# The beginning of a requirement on tf-frame that may not be readable.
_OWN = re.compile(r"tf[-_.]+frame(?![-_.\w])", re.IGNORECASE)


def unreadable(requirements: Iterable[str]) -> str:
    """Describes a requirement on tf-frame that cannot be read; empty if there is none."""
    return next(filter(None, (_read(line)[1] for line in requirements if _OWN.match(line))), "")


def incompatibility(requirements: Iterable[str]) -> str:
    """Describes a requirement that this tf-frame does not meet; empty if there is none."""
    for line in requirements:
        requirement, _ = _read(line)
        if requirement is not None and is_own(requirement.name):
            version = tf_frame.__version__
            if not _is_met(line, version):
                return f"it needs tf-frame{requirement.specifier}, this is tf-frame {version}"
    return ""


def unmet(
    requirements: Iterable[str], version_of: Callable[[str], str | None]
) -> tuple[str, str] | None:
    """Finds the first requirement on another package than tf-frame that is not met.

    Returns:
      The requirement, and in words how it is not met; None if all are met.
    """
    for line in requirements:
        requirement, _ = _read(line)
        if requirement is None or is_own(requirement.name):
            continue
        needed = f"{requirement.name}{requirement.specifier}"
        version = version_of(requirement.name)
        if version is None:
            return needed, f"it needs {needed}, which is not installed"
        if version and not _is_met(line, version):
            return needed, f"it needs {needed}, installed is {requirement.name} {version}"
    return None


def installed_version(name: str) -> str | None:
    """Returns the version of an installed package; None if it is not installed."""
    try:
        fields = metadata_fields(importlib.metadata.distribution(name))
    except importlib.metadata.PackageNotFoundError:
        return None
    return next(iter(fields["version"]), "")


@functools.cache
def _read(line: str) -> tuple[Any, str]:
    """Parses a requirement.

    Returns:
      The requirement, None if it is for other systems or for an extra; and why it cannot be read.
    """
    from packaging.requirements import InvalidRequirement, Requirement

    try:
        requirement = Requirement(line)
    except InvalidRequirement as error:
        # Further lines of the error draw an arrow below the requirement.
        return None, f"its requirement {brief(line)} cannot be read: {str(error).splitlines()[0]}"
    marker = requirement.marker
    return (requirement if marker is None or marker.evaluate({"extra": ""}) else None), ""


@functools.cache
def _is_met(line: str, version: str) -> bool:
    requirement, _ = _read(line)
    return bool(requirement.specifier.contains(version, prereleases=True))
