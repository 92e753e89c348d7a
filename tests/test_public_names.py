"""The public face: plugins import public modules only, and the documents list them."""

import re

import pytest

import tf_frame
import tf_frame.testing
from source_tree import FRAMEWORK, PLUGINS, ROOT, imports, modules

PUBLIC = {
    "tf_frame",
    *(f"tf_frame.{name}" for name in ("atomic_output", "errors", "estimator", "hooks", "layers")),
    *(f"tf_frame.{name}" for name in ("tensorflow_log", "testing", "text", "text_file")),
    *("tf_frame.json_lists", "tf_frame.picture_font", "tf_frame.visible_files"),
    *("tf_frame.yaml_text", "tf_frame.shell_text", "tf_frame.progress_bar", "tf_frame.html_page"),
}
# Released together with the framework: old names of its functions, and a command that starts runs.
INTERNAL = {"tf_frame_legacy", "tf_frame_sweep"}

_TESTING = re.compile(r"^ *from (tf_frame\.testing[\w.]*) import", re.MULTILINE)


def is_public(imported):
    """Returns whether `module.name` names a public module, or a name in one."""
    return imported in PUBLIC or imported.rpartition(".")[0] in PUBLIC


CHECKED = [path for path in PLUGINS if path.name not in INTERNAL]


@pytest.mark.parametrize("plugin", CHECKED, ids=lambda path: path.name)
def test_plugins_import_public_modules_only(plugin):
    violations = [
        f"{name} imports {imported}"
        for name, path in modules(plugin).items()
        for imported in imports(path)
        if imported.split(".")[0] == "tf_frame" and not is_public(imported)
    ]
    assert not violations


def test_documents_list_the_public_modules():
    text = (ROOT / "docs" / "writing" / "public_names.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([\w.]+)`", text, re.MULTILINE)) == PUBLIC


def test_tests_of_plugins_import_listed_modules_of_testing():
    patterns = ("plugins/*/tests/**/*.py", "plugins/*/README.md", "docs/**/*.md")
    files = [path for pattern in patterns for path in ROOT.glob(pattern)]
    files += FRAMEWORK.glob("scaffold/templates/**/*.py.txt")
    listed = {f"tf_frame.testing.{name}" for name in tf_frame.testing.__all__}
    used = {
        name: path for path in files for name in _TESTING.findall(path.read_text(encoding="utf-8"))
    }
    assert "tf_frame.testing.toy" in used
    assert not {name: path for name, path in used.items() if name not in listed}


def test_every_public_name_of_the_package_can_be_imported():
    assert all(hasattr(tf_frame, name) for name in tf_frame.__all__)
