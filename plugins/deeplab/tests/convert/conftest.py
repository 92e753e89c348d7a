"""Runs conversions."""

import pytest

from tf_frame.cli.main import main


@pytest.fixture
def convert(tmp_path):
    """Runs `tf-frame convert KIND SOURCE tmp_path/records`; returns its exit code."""

    def run(kind, source, *options, output="records"):
        words = [kind, source, tmp_path / output, "--workers", "2", *options]
        return main(["convert", *map(str, words)])

    return run


@pytest.fixture
def refuse(convert, capsys):
    """Runs a conversion that must be refused; returns its error messages."""

    def run(*words):
        capsys.readouterr()
        assert convert(*words) == 2
        return capsys.readouterr().err

    return run
