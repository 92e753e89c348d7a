"""Constraints with the lowest version of each direct dependency that some `setup.py` allows.

    python tools/release/lowest.py           writes tests/release/lowest.txt

`tox -e py311-lowest` installs these versions. Bounds of extras count where the distributions
themselves have none: an extra may need a newer version, as `tf-frame[profile]` does of protobuf.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable

from metadata import ROOT, distributions, setup_arguments
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

# Not beside requirements.txt, whose folder dependabot keeps at the newest versions.
FILE = ROOT / "tests" / "release" / "lowest.txt"
_HEADER = "# Written by tools/release/lowest.py: the lower bounds in the setup.py files.\n"


def lowest_text() -> str:
    """Returns the content of the constraints file."""
    arguments = [setup_arguments(folder) for folder in distributions().values()]
    of_all = _bounds(text for each in arguments for text in each["install_requires"])
    of_extras = _bounds(
        text
        for each in arguments
        for extra in each.get("extras_require", {}).values()
        for text in extra
    )
    versions = {**of_extras, **of_all}
    return _HEADER + "".join(f"{name}=={versions[name]}\n" for name in sorted(versions))


def _bounds(requirements: Iterable[str]) -> dict[str, Version]:
    """Returns the highest of the lower bounds of each package."""
    bounds: dict[str, Version] = {}
    for requirement in map(Requirement, requirements):
        name = canonicalize_name(requirement.name)
        lower = [Version(part.version) for part in requirement.specifier if part.operator == ">="]
        if not name.startswith("tf-frame"):
            bounds[name] = max([*lower, bounds.get(name, Version("0"))])
    return bounds


if __name__ == "__main__":
    FILE.write_text(lowest_text(), encoding="utf-8")
    sys.exit(0)
