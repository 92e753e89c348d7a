"""The source tree: packages, their modules, and the names that a module imports."""

import ast
import functools
from pathlib import Path

ROOT = Path(__file__).parents[2]
FRAMEWORK = ROOT / "framework" / "tf_frame"
PLUGINS = sorted(path for path in ROOT.glob("plugins/*/src/*") if (path / "__init__.py").exists())
# Pages that are written from the code, for the site.
_OF_SITE = ("docs/reference/", "docs/plugins/", "docs/_build/", "docs/changelog.md")
_OF_SITE += ("docs/contributing.md",)


@functools.cache
def documents():
    """Paths, from the root, of the documents that people write."""
    patterns = ("README.md", "CONTRIBUTING.md", "docs/**/*.md", "plugins/*/README.md")
    paths = sorted(path.relative_to(ROOT).as_posix() for p in patterns for path in ROOT.glob(p))
    return [path for path in paths if not path.startswith(_OF_SITE)]


@functools.cache
def modules(package):
    """Path of each module below the folder of a package, by the module's full name."""
    named = {}
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        named[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return named


@functools.cache
def imports(path):
    """Names that a file imports, at its top level and within functions."""
    return tuple(_imports(path))


def _imports(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
