"""Imports of the plugins in this repository: no circles, and none from plugin to plugin."""

import ast
from pathlib import Path

PLUGINS = Path(__file__).parents[1] / "plugins"
SHARED = "tf_frame_vision"


def module_of(path):
    source = next(parent for parent in path.parents if parent.name == "src")
    parts = path.relative_to(source).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


PATHS = {module_of(path): path for path in PLUGINS.glob("*/src/**/*.py")}


def imports_of(module):
    """The plugins' modules that one imports, also those within a function."""
    found = set()
    for node in ast.walk(ast.parse(PATHS[module].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            # Of a package, a module or a name of its own.
            found |= {name if name in PATHS else node.module for name in names}
    return found & PATHS.keys()


def test_there_are_no_import_circles():
    """Modules that import no remaining one are taken away until none is left."""
    remaining = {module: imports_of(module) - {module} for module in PATHS}
    assert len(remaining) > 50
    while free := {module for module, needed in remaining.items() if not needed & remaining.keys()}:
        remaining = {m: needed for m, needed in remaining.items() if m not in free}
    assert not remaining, f"within a circle, or importing one: {sorted(remaining)}"


def test_plugins_import_the_shared_package_only():
    foreign = [
        (module, imported)
        for module in PATHS
        for imported in imports_of(module)
        if imported.split(".")[0] not in (module.split(".")[0], SHARED)
    ]
    assert not foreign


def test_plugins_stand_on_current_names_of_the_framework():
    """Not on those of other projects, which the package `legacy` keeps for old code."""
    assert not [m for m, path in PATHS.items() if "tf_frame.legacy" in path.read_text()]
