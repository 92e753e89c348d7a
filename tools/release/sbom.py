"""Writes an SBOM of each wheel, in CycloneDX: the packages that pip installs with the wheel.

    python tools/release/release.py && python tools/release/sbom.py      dist/ -> sbom/

All wheels are installed into one clean environment, and an SBOM has the part of the environment
that its wheel needs, without extras. It stands beside the wheel, because the versions are those of
a day.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from environment import make_environment
from metadata import ROOT, distributions

_VERSION = "1.6"


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the SBOMs; returns 1 if one does not fit the schema of CycloneDX."""
    # Here, because the tests of the other functions do not need its packages.
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="default: dist")
    parser.add_argument("--output", type=Path, default=ROOT / "sbom", help="default: sbom")
    options = parser.parse_args(arguments)
    options.output.mkdir(parents=True, exist_ok=True)
    faults, validator = 0, JsonStrictValidator(SchemaVersion.from_version(_VERSION))
    whole = environment_bom(options.dist)
    for wheel in sorted(options.dist.glob("*.whl")):
        bom = wheel_bom(whole, wheel)
        text = json.dumps(bom, indent=2)
        error = validator.validate_str(text)
        faults += error is not None
        (options.output / f"{wheel.stem}.cdx.json").write_text(text + "\n", encoding="utf-8")
        print(f"{len(bom['components']):>4} packages  {wheel.stem}.cdx.json  {error or 'valid'}")
    return 1 if faults else 0


def environment_bom(dist: Path) -> dict[str, Any]:
    """Returns the SBOM of a clean environment with all wheels of a folder."""
    with tempfile.TemporaryDirectory() as folder:
        python = make_environment(Path(folder) / "venv", dist, list(distributions()))
        words = ("environment", "--output-reproducible", "--spec-version", _VERSION)
        command = [sys.executable, "-m", "cyclonedx_py", *words, str(python)]
        printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    return dict(json.loads(printed))


def wheel_bom(whole: Mapping[str, Any], wheel: Path) -> dict[str, Any]:
    """Returns the part of an SBOM that a wheel needs, with the wheel as its subject."""
    name = wheel.name.split("-")[0].replace("_", "-")
    components = {component["bom-ref"]: component for component in whole["components"]}
    (subject,) = (ref for ref, component in components.items() if component["name"] == name)
    needs = {entry["ref"]: entry.get("dependsOn", []) for entry in whole["dependencies"]}
    needed = _reachable(subject, needs)
    digest = {"alg": "SHA-256", "content": hashlib.sha256(wheel.read_bytes()).hexdigest()}
    # How the environment got the wheel is a path of this machine.
    own = {k: v for k, v in components[subject].items() if k != "externalReferences"}
    return {
        **whole,
        "metadata": {**whole["metadata"], "component": {**own, "hashes": [digest]}},
        "components": [c for ref, c in components.items() if ref in needed - {subject}],
        "dependencies": [entry for entry in whole["dependencies"] if entry["ref"] in needed],
    }


def _reachable(start: str, needs: Mapping[str, Sequence[str]]) -> set[str]:
    reached, waiting = set[str](), [start]
    while waiting:
        ref = waiting.pop()
        if ref not in reached:
            reached.add(ref)
            waiting += needs.get(ref, ())
    return reached


if __name__ == "__main__":
    sys.exit(main())
