"""Writes metadata of installed packages, so that a test registers plugins without an install."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path


def write_distribution(
    site: Path,
    name: str,
    entry_points: Mapping[str, str],
    *,
    version: str = "1.0",
    requires: Iterable[str] = (),
    summary: str = "",
) -> None:
    """Writes the metadata of a package with entry points.

    Args:
      site: folder on the import path.
      name: name of the package.
      entry_points: `group: name` -> `module:attribute`, such as
        `{"tf_frame.models: toy": "tf_frame.testing.toy:ToyModel"}`.
      version: version of the package.
      requires: requirements of the package.
      summary: one line about the package.

    Raises:
      FileExistsError: the folder has metadata of this package and version.
    """
    folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir(parents=True)
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    lines += [f"Summary: {summary}"] if summary else []
    lines += [f"Requires-Dist: {line}" for line in requires]
    (folder / "METADATA").write_text("\n".join(lines) + "\n", encoding="utf-8")
    sections: dict[str, list[str]] = {}
    for key, target in entry_points.items():
        group, plugin = key.split(": ")
        sections.setdefault(group, [f"[{group}]"]).append(f"{plugin} = {target}")
    text = "\n".join(line for section in sections.values() for line in section)
    (folder / "entry_points.txt").write_text(text + "\n", encoding="utf-8")


def write_toy_distribution(site: Path) -> None:
    """Writes the metadata of a package that registers the toy model and input as `toy`.

    Args:
      site: folder on the import path.

    Raises:
      FileExistsError: the folder has this metadata.
    """
    entry_points = {
        "tf_frame.models: toy": "tf_frame.testing.toy:ToyModel",
        "tf_frame.inputs: toy": "tf_frame.testing.toy:ToyInput",
    }
    write_distribution(site, "tf-frame-toy", entry_points)
