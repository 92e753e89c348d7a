import os
import subprocess

import pytest
from hypothesis import strategies

from properties import COUNTS, TEXTS, check_many
from tf_frame.shell_text import shell_line, shell_word
from tf_frame.text import printable

_HOSTILE = strategies.sampled_from(
    [
        "",
        "$(id)",
        "`id`",
        "-n",
        "--",
        "it's",
        '"',
        "a b",
        "*",
        "~",
        "\x1b[1m",
        "\\",
        "!!",
        "&",
        "\x01",
    ]
)
# A shell takes no zeros.
WORDS = strategies.one_of(_HOSTILE, TEXTS).filter(lambda text: "\0" not in text)


@COUNTS
def test_a_shell_reads_the_words_that_were_quoted(count):
    def check(words):
        line = shell_line(words)
        assert printable(line) == line
        # Builtins of a shell take options, but not after %s.
        done = subprocess.run(
            ["bash", "-c", f"printf '%s\\0' end {line}"], capture_output=True, check=True
        )
        assert done.stdout.split(b"\0")[1:-1] == [os.fsencode(word) for word in words]

    check_many(check, count, words=strategies.lists(WORDS, max_size=8))


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("runs/first", "runs/first"),
        ("my run", "'my run'"),
        ("caf\u00e9\u00a0", "'caf\u00e9\u00a0'"),
        ("a\nb's\\", r"$'a\x0ab\x27s\x5c'"),
        ("\udcff", r"$'\xff'"),
        ("\u202ea", r"$'\xe2\x80\xaea'"),
    ],
)
def test_a_word_is_quoted_only_as_far_as_it_needs(word, text):
    assert shell_word(word) == text
