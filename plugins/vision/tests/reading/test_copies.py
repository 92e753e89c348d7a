"""Files of the same content; digests that took a while are kept."""

import os

import pytest

from tf_frame_vision.reading import cache, copies


def write(folder, contents):
    for name, content in contents.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    return sorted(str(folder / name) for name in contents)


LONG = bytes(range(256)) * 200
CONTENTS = {
    "a/1": LONG,
    "a/2": LONG,
    "b/3": LONG,
    # Differs before its middle, where no part is read.
    "b/4": b"x" + LONG[1:],
    "b/5": LONG[:-1] + b"x",
    "b/6": b"short",
    "b/7": b"other",
    "b/8": b"",
    "b/9": b"",
}


def names(folder, groups):
    return [[os.path.relpath(path, folder) for path in sorted(group)] for group in groups]


def test_files_with_the_same_content_are_found_and_empty_ones_left_out(tmp_path):
    paths = write(tmp_path, CONTENTS)
    paths.append(str(tmp_path / "missing"))
    groups = copies.find_copies(tmp_path, paths)
    assert names(tmp_path, groups) == [["a/1", "a/2", "b/3"]]
    assert not (tmp_path / ".tf_frame").exists()


def test_digests_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "KEPT_AFTER_SECS", 0)
    paths = write(tmp_path, CONTENTS)
    outside = write(tmp_path.parent, {f"{tmp_path.name}-copy": LONG})
    for _ in range(2):
        groups = copies.find_copies(tmp_path, [*paths, *outside])
        assert names(tmp_path, groups) == [
            ["../" + outside[0].rpartition("/")[2], "a/1", "a/2", "b/3"]
        ]
        monkeypatch.setattr(copies, "_digest", None)
        monkeypatch.setattr(copies, "_part_digest", None)
    assert {path.name for path in (tmp_path / ".tf_frame").iterdir()} == {
        "copies.scan",
        "parts.scan",
    }


@pytest.mark.parametrize("limit", ["_MOST_FILES", "_MOST_READ"])
def test_too_many_files_are_not_compared(tmp_path, monkeypatch, limit):
    monkeypatch.setattr(copies, limit, 3)
    assert copies.find_copies(tmp_path, write(tmp_path, CONTENTS)) is None
