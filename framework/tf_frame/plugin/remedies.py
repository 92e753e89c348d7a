"""The remedies for packages whose plugins cannot be used, in words."""

from __future__ import annotations

from tf_frame.plugin.packages import source_folder


def tell_authors(distribution: str) -> str:
    """The remedy for what only the authors of a package can mend."""
    return _in_source(distribution) or f"tell the authors of {distribution}, or uninstall it"


def reinstall(distribution: str) -> str:
    """The remedy for a package whose files are not all there."""
    command = f"pip install --force-reinstall {distribution}, or uninstall it"
    return _in_source(distribution) or command


def upgrade(distribution: str) -> str:
    """The remedy for a package whose code fails."""
    command = f"pip install --upgrade {distribution}, or uninstall it"
    return _in_source(distribution) or command


def _in_source(distribution: str) -> str:
    """The remedy for a package that was installed from a folder; empty for others."""
    folder = source_folder(distribution)
    return f"correct it in {folder}, install that again, or uninstall it" if folder else ""
