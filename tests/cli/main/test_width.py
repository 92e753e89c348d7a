"""No help and no list is wider than the terminal, in this process."""

import pytest

from tf_frame.cli.doctor.machine import Check
from tf_frame.cli.main import COMMANDS, main
from tf_frame.cluster.status import own_status, write_status
from tf_frame.plugin.find import find_plugins
from tf_frame.text_width import cell_width

SUB_COMMANDS = {
    "checkpoint": ("list", "show", "diff", "rename", "average"),
    "plugins": ("list", "show", "why", "check", "new"),
    "profile": ("show", "diff", "attach", "merge", "gc"),
    "weights": ("list", "show", "fetch"),
    "legacy": ("run", "check", "convert", "where"),
}
HELPS = [
    "",
    *(f"{command} --help" for command in (*COMMANDS, *SUB_COMMANDS)),
    *(f"{command} {word} --help" for command, words in SUB_COMMANDS.items() for word in words),
    "run --help_all",
    *(
        f"run --plugin {model} {flag}"
        for model in ("classification", "deeplab", "detection", "recognition")
        for flag in ("--help", "--help_all")
    ),
    *(f"launch --on {place} --help" for place in ("local", "slurm", "kubernetes", "env")),
]
LISTS = [
    "plugins list",
    "plugins list --check",
    "plugins why nothing",
    "plugins why deeplab",
    "weights list",
    *(f"convert {info.name} --help" for info in find_plugins() if info.kind.word == "converter"),
    *(f"weights show {info.name}" for info in find_plugins() if info.kind.word == "weights"),
    *(
        f"plugins show {info.distribution}:{info.name}{everything}"
        for info in find_plugins()
        for everything in ("", " --all")
    ),
]


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("commands", [HELPS, LISTS], ids=["helps", "lists"])
def test_no_line_is_wider_than_the_terminal(capsys, monkeypatch, commands, width):
    monkeypatch.setenv("COLUMNS", str(width))
    too_wide = {}
    for command in commands:
        main(command.split())
        printed = capsys.readouterr()
        assert printed.out, (command, printed.err)
        # An address can be copied only if it is not broken.
        lines = [line for line in printed.out.split("\n") if "://" not in line.rpartition(" ")[2]]
        if wide := [line for line in lines if cell_width(line) > width]:
            too_wide[command] = wide
    assert not too_wide


@pytest.mark.parametrize("width", [80, 120])
def test_tables_of_a_folder_and_of_a_machine_fit(
    capsys, monkeypatch, tmp_path, save_checkpoints, width
):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").mkdir()
    name = f"{'MobilenetV2/expanded_conv/' * 2}depthwise/depthwise_weights"
    save_checkpoints(tmp_path / "run", {step: {name: [[1.0, 2.0]]} for step in (1, 100_000)})
    write_status("run", own_status("chief-0", "training", step=3, max_steps=9))
    for words in (["checkpoint", "list"], ["checkpoint", "show"], ["status"]):
        assert main([*words, "run"]) == 0
    check = Check("thing", "warning", "a finding of many words " * 8, ("an advice " * 20,))
    printed = f"{capsys.readouterr().out}{check.text()}"
    assert max(map(cell_width, printed.split("\n"))) <= width
    assert f"\n{name}\n" in printed or width == 120
