"""Each block of code has a status, and nearly all are run."""

from documents.blocks import blocks, blocks_of_text, documents
from documents.plan import needs, plan, status

BLOCKS = [block for document in documents() for block in blocks(document)]


def test_a_directive_is_no_block_and_begins_none():
    text = "# Why\n```{toctree}\na\n```\n\n```sh\nls\n```\n```{toctree}\nb\n```\n"
    (block,) = blocks_of_text("a.md", text)
    assert (block.name, block.language, block.line, block.text) == ("why 1", "sh", 6, "ls\n")


def test_at_least_95_percent_of_the_code_is_run():
    code = [block for block in BLOCKS if block.language in ("sh", "python")]
    left_out = [str(block) for block in code if status(block) == "skipped"]
    assert len(code) > 150
    assert len(left_out) <= 0.05 * len(code), left_out


def test_the_languages_are_those_that_a_test_knows():
    assert {block.language for block in BLOCKS} <= {"sh", "python", "yaml", "toml", ""}


def test_a_reason_is_a_sentence_of_its_own():
    reasons = [reason for block in BLOCKS for reason in (needs(block).skip, needs(block).shown)]
    assert all(len(reason.split()) > 2 for reason in reasons if reason)


def test_the_plan_names_blocks_that_are_there():
    there = {block.document: {"page"} for block in BLOCKS}
    for block in BLOCKS:
        there[block.document].add(block.name)
    wrong = [
        f"{document} {name}"
        for document, section in plan().items()
        for name in section
        if name not in there.get(document, ())
    ]
    assert not wrong
