"""Every block of code in the documents, run as it is written.

The marker `documents` has all of them; the default suite runs those that need no TensorFlow.
`python tests/documents/listing.py` lists the blocks with what is done with each.
"""

import re

import pytest

from documents.blocks import blocks, documents
from documents.output import missing_lines
from documents.plan import needs, status
from documents.reader import Reader

BLOCKS = [block for document in documents() for block in blocks(document)]
FOLLOWED = [block for block in BLOCKS if status(block) in ("run", "file", "compared")]


def followed(*, light):
    """The blocks to run, those of a document in one process of pytest-xdist."""
    return [
        pytest.param(block, id=str(block), marks=pytest.mark.xdist_group(block.document))
        for block in FOLLOWED
        if needs(block).light == light
    ]


@pytest.fixture(scope="module")
def get_reader(tmp_path_factory):
    """Returns the reader of a document, who has read what the tests before have asked for."""
    readers = {}

    def get_reader(document):
        if document not in readers:
            readers[document] = Reader(document, tmp_path_factory.mktemp("reader"))
        return readers[document]

    return get_reader


@pytest.mark.documents
@pytest.mark.process
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("block", followed(light=False))
def test_a_block_does_as_the_document_says(block, get_reader):
    for package in needs(block).packages:
        pytest.importorskip(package)
    check(block, get_reader(block.document).outcome(block))


@pytest.mark.process
@pytest.mark.parametrize("block", followed(light=True))
def test_a_light_block_does_as_the_document_says(block, get_reader):
    check(block, get_reader(block.document).alone(block))


def check(block, outcome):
    need = needs(block)
    where = f"{block.document}:{block.line}"
    assert outcome.code == 0, f"{where}\n{block.text}\n{outcome.output}"
    absent = [text for text in need.prints if not re.search(text, outcome.output, re.MULTILINE)]
    assert not absent, f"{where} did not print {absent}:\n{outcome.output}"
    if block.language == "":
        lines = missing_lines(block.text, outcome.output, numbers=need.numbers, lines=need.lines)
        assert not lines, f"{where} shows {lines}, and printed were:\n{outcome.output}"
