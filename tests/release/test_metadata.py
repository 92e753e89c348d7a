"""The `setup.py` files agree with each other and with what else names a version."""

import re
from datetime import date

import pytest
import yaml

import tf_frame
from source_tree import ROOT

NAMES = [
    "tf-frame",
    *sorted(f"tf-frame-{path.parent.name}" for path in ROOT.glob("plugins/*/setup.py")),
]
SAME = ("version", "author", "python_requires", "classifiers", "long_description_content_type")


@pytest.fixture(scope="module")
def arguments():
    """The arguments of `setup` by the name of the distribution."""
    from metadata import distributions, setup_arguments

    return {name: setup_arguments(folder) for name, folder in distributions().items()}


@pytest.mark.parametrize("name", NAMES)
def test_metadata_are_complete_and_the_same(name, arguments):
    own, first = arguments[name], arguments["tf-frame"]
    assert own["name"] == name
    assert {key: own[key] for key in SAME} == {key: first[key] for key in SAME}
    assert own["version"] == tf_frame.__version__
    assert own["description"] and own["long_description"].startswith("# ")
    assert own["license_expression"].startswith("Apache-2.0")
    assert "py.typed" in own["package_data"][name.replace("-", "_")]
    requirements = [text for text in own["install_requires"] if text.startswith("tf-frame")]
    major, minor, _ = tf_frame.__version__.split(".")
    bounds = f">={major}.{minor},<{major}.{int(minor) + 1}"
    assert all(text.endswith(bounds) for text in requirements)
    assert bool(requirements) == (name != "tf-frame")


@pytest.mark.parametrize("name", NAMES)
def test_licences_of_samples_are_in_the_expression_and_in_the_wheel(name, arguments):
    from metadata import distributions

    folder = distributions()[name]
    assert (folder / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    files = [
        path.relative_to(folder).as_posix() for path in folder.glob("src/*/data/**/LICENSE.txt")
    ]
    listed = [
        path.relative_to(folder).as_posix()
        for pattern in arguments[name]["license_files"]
        for path in folder.glob(pattern)
    ]
    assert sorted(listed) == sorted(["LICENSE", *files])
    texts = "".join((folder / file).read_text() for file in files)
    words = {"MIT": "MIT ", "CC0-1.0": "CC0 1.0", "CC-BY-4.0": "CC BY 4.0"}
    named = {licence for licence, word in words.items() if word in texts}
    assert set(arguments[name]["license_expression"].split(" AND ")) == {"Apache-2.0", *named}


def test_the_classifiers_name_the_versions_that_are_tested(arguments):
    classifiers = arguments["tf-frame"]["classifiers"]
    versions = re.findall(r"Python :: (3\.\d+)", "\n".join(classifiers))
    environments = re.search(r"^env_list = (.*)$", (ROOT / "tox.ini").read_text(), re.MULTILINE)
    assert environments[1].split(", ")[1:] == [f"py{v.replace('.', '')}" for v in versions]
    assert arguments["tf-frame"]["python_requires"] == f">={versions[0]}"


def test_citation_and_changelog_have_the_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == tf_frame.__version__
    assert citation["license"] == "Apache-2.0"
    released = citation["date-released"]
    assert isinstance(released, date)
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings[:2] == ["Unreleased", f"{tf_frame.__version__} ({released})"]


def test_the_lowest_versions_are_those_of_the_setup_files():
    from lowest import FILE, lowest_text

    message = "python tools/release/lowest.py writes it"
    assert FILE.read_text(encoding="utf-8") == lowest_text(), message


def test_documents_of_the_project_are_well_formed():
    forms = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
    assert len(forms) == 4
    for path in forms:
        form = yaml.safe_load(path.read_text())
        fields = [field["id"] for field in form.get("body", ())]
        assert len(set(fields)) == len(fields)
        assert path.name == "config.yml" or {"name", "description", "body"} <= form.keys()
    for name in (".github/dependabot.yml", ".pre-commit-config.yaml"):
        assert yaml.safe_load((ROOT / name).read_text())
    folders = [
        update["directory"]
        for update in yaml.safe_load((ROOT / ".github/dependabot.yml").read_text())["updates"]
    ]
    assert all((ROOT / folder.strip("/")).is_dir() for folder in folders)
