"""The lines of a log, of whatever bytes it consists."""

import pytest

from tf_frame.launch.process import LogTail


@pytest.fixture
def log(tmp_path):
    """Adds bytes to a file; returns the lines that are found in it."""
    path = tmp_path / "log"
    path.write_bytes(b"of an earlier process\n")
    tail = LogTail(str(path))

    def log(data=b"", *, end=False):
        with path.open("ab") as file:
            file.write(data)
        return tail.rest() if end else tail.lines()

    yield log
    tail.close()


def test_lines_are_found_when_they_are_complete(log):
    assert log(b"one\ntw") == ["one"]
    assert log() == []
    assert log(b"o\n\nthr") == ["two", ""]
    assert log(b"ee", end=True) == ["three"]
    assert log(end=True) == []


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"1%\r2%\r100%\n", "100%"),
        (b"windows\r\n", "windows"),
        (b"1%\r2%\r\n", "2%"),
        (b"\xff\xfe broken\n", "\ufffd\ufffd broken"),
        (b"\x1b[31mred\x1b[0m\x1b[2K\x07\n", "red"),
        (b"a\tb\n", "a\tb"),
        ("größe\n".encode(), "größe"),
    ],
)
def test_what_a_terminal_would_show(log, data, expected):
    assert log(data) == [expected]


def test_a_bar_that_arrives_in_parts(log):
    assert log(b"1%\r2%") == []
    assert log(b"\r3%\r") == []
    assert log(b"\n") == ["3%"]


def test_a_huge_line_is_cut_and_the_next_one_is_whole(log):
    log_lines = [line for _ in range(4) for line in log(b"x" * (1 << 20))]
    assert not log_lines
    log_lines = [*log(b"\nnext\n"), *log(end=True)]
    assert log_lines == [f"{'x' * 2000} ... (cut; the log has all of it)", "next"]


def test_a_character_may_be_cut_by_a_read(log):
    first, second = "é".encode()[:1], "é".encode()[1:]
    assert log(b"caf" + first) == []
    assert log(second + b"\n") == ["café"]
