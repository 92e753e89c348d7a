"""`tf-frame checkpoint`; test_main.py has its help and wrong words, which need no TensorFlow."""

import json
import subprocess
import sys

import numpy as np
import pytest

from tf_frame.cli.checkpoint_tables import size_text

W = np.array([[1.0, -2.0, 2.0]], np.float32)


@pytest.fixture
def folder(tmp_path, save_checkpoints):
    """Two checkpoints, of steps 1 and 2."""
    values = {step: {"net/w": step * W, "names": ["a"]} for step in (1, 2)}
    save_checkpoints(tmp_path / "run", values)
    return tmp_path / "run"


def lines(text):
    return [line.split() for line in text.splitlines()]


def test_list_shows_a_row_for_each_checkpoint(run, folder):
    code, out, err = run("list", folder)
    heading, first, second = lines(out)
    assert (code, err) == (0, "")
    assert heading == ["CHECKPOINT", "STEP", "SAVED", "SIZE", "VARIABLES", "PARAMETERS", "STATE"]
    assert (first[0], first[1], first[-3:]) == (f"{folder}/model.ckpt-1", "1", ["3", "5", "ok"])
    assert (second[0], second[1]) == (f"{folder}/model.ckpt-2", "2")


def test_show_lists_variables_and_totals(run, folder):
    code, out, err = run("show", folder)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "VARIABLE     SHAPE   TYPE     BYTES",
        "global_step  []      int64    8",
        "names        [1]     string   -",
        "net/w        [1, 3]  float32  12",
        f"{folder}/model.ckpt-2 at step 2: 3 variables, 5 parameters, 20 B",
    ]


def test_show_takes_a_filter_and_gives_values(run, folder):
    _, out, _ = run("show", folder / "model.ckpt-1", "--filter=^n", "--values")
    heading, names, w, _ = lines(out)
    assert heading[-6:] == ["MIN", "MAX", "MEAN", "NORM", "NAN", "INF"]
    assert names[-6:] == ["-"] * 6
    assert w[-6:] == ["-2", "2", "0.333333", "3", "0", "0"]


def test_show_gives_json(run, folder):
    printed = json.loads(run("show", folder, "--json", "--values", "--filter", "net")[1])
    assert printed == {
        "path": f"{folder}/model.ckpt-2",
        "step": 2,
        "variables": 1,
        "parameters": 3,
        "size_bytes": 12,
        "contents": [
            {
                "name": "net/w",
                "shape": [1, 3],
                "dtype": "float32",
                "size": 3,
                "size_bytes": 12,
                "statistics": {
                    "min": -4.0,
                    "max": 4.0,
                    "mean": pytest.approx(2 / 3),
                    "norm": 6.0,
                    "nan": 0,
                    "infinite": 0,
                },
            }
        ],
    }


def test_diff_gives_json(run, folder, tmp_path):
    new = tmp_path / "new"
    run("rename", folder / "model.ckpt-1", new, "--rule", "names=texts")
    code, out, _ = run("diff", folder, new, "--json")
    assert code == 1
    assert json.loads(out) == {
        "only_in_first": ["names"],
        "only_in_second": ["texts"],
        "other_shapes": [],
        "other_values": [
            {"name": "global_step", "max_abs_difference": 1.0},
            {"name": "net/w", "max_abs_difference": 2.0},
        ],
        "same": 0,
    }


def test_rename_takes_rules_with_commas_several_times(run, folder, tmp_path):
    new = tmp_path / "new" / "model.ckpt-0"
    rules = ["--rule", r"ne{0,1}t/(\w{1,3})=backbone/\1", "--rule=names=texts"]
    code, out, err = run("rename", folder, new, *rules, "--drop", "global_ste{1,}p")
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        "  names        ->  texts",
        "  net/w        ->  backbone/w",
        "  global_step  ->  (dropped)",
        f"wrote {new}: 2 variables renamed, 1 dropped, 0 as they were",
    ]
    printed = json.loads(run("show", new.parent, "--json")[1])
    assert [content["name"] for content in printed["contents"]] == ["backbone/w", "texts"]


def test_a_rule_without_a_match_is_noted_in_a_line(run, folder, tmp_path):
    code, _, err = run("rename", folder, tmp_path / "new", "--rule=names=texts", "--rule=nets/w=w")
    assert code == 0
    assert err == (
        "note: --rule 'nets/w=w' matches the whole name of none of the 3 variables; did you mean "
        "'net/w'?\n"
    )


def test_average_of_a_folder(run, folder, tmp_path):
    new = tmp_path / "mean"
    code, out, _ = run("average", new, folder)
    assert code == 0
    assert out.splitlines() == [
        f"wrote {new}, the mean of 2 checkpoints:",
        f"  {folder}/model.ckpt-1",
        f"  {folder}/model.ckpt-2",
        "1 variables averaged, 2 taken from the last",
    ]
    (w,) = json.loads(run("show", new, "--json", "--values", "--filter=net/w")[1])["contents"]
    assert w["statistics"]["max"] == 3.0


def test_average_of_named_checkpoints_and_of_the_last(run, folder, tmp_path):
    first_path, second_path = folder / "model.ckpt-1", folder / "model.ckpt-2"
    assert run("average", tmp_path / "a", second_path, first_path)[0] == 0
    printed = json.loads(run("show", tmp_path / "a", "--json")[1])
    assert printed["step"] == 1
    code, _, err = run("average", tmp_path / "b", folder, "--last", "1")
    assert (code, err.startswith("tf-frame: an average takes two checkpoints or more")) == (2, True)
    assert run("average", tmp_path / "c", folder, "--last=2", "--overwrite")[0] == 0


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["show", "none"], 2, "there is no checkpoint "),
        (["list", "none"], 2, "there is no folder "),
        (["show", "run", "--filter", "("], 2, "--filter '(' is not a regular expression: "),
        (["show", "run", "--filter", "zzz"], 2, "--filter 'zzz' is found in none of the 3 names"),
        (["rename", "run", "new", "--rule", "names"], 2, "--rule 'names': expected REGEX=REPLACE"),
        (["rename", "run", "run", "--rule=names=x"], 2, "run is a folder; name the checkpoint"),
        (["average", "new", "run", "none"], 2, "there is no checkpoint none"),
    ],
)
def test_errors_are_told_in_a_line(run, folder, monkeypatch, words, code, message):
    monkeypatch.chdir(folder.parent)
    result, out, err = run(*words)
    assert (result, out) == (code, "")
    assert err.startswith("tf-frame: ")
    assert message in err
    assert len(err.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.process
def test_the_command_prints_nothing_of_tensorflows(folder):
    process = subprocess.run(
        [sys.executable, "-m", "tf_frame", "checkpoint", "average", folder / "mean", folder],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout.startswith(f"wrote {folder}/mean, the mean of 2 checkpoints:\n")


@pytest.mark.parametrize(
    ("size_bytes", "text"),
    [
        (None, "-"),
        (0, "0 B"),
        (1023, "1023 B"),
        (1536, "1.5 KiB"),
        (5 * 2**20, "5.0 MiB"),
        (2**50, "1024.0 TiB"),
    ],
)
def test_sizes_are_told_in_the_unit_that_fits(size_bytes, text):
    assert size_text(size_bytes) == text


def test_list_goes_on_after_damage_and_gives_json(run, folder, tmp_path):
    (folder / "model.ckpt-1.data-00000-of-00001").write_bytes(b"")
    code, out, _ = run("list", folder)
    _, damaged, healthy = out.splitlines()
    assert code == 0 and "damaged: " in damaged and healthy.endswith("ok")
    first, second = json.loads(run("list", folder, "--json")[1])
    assert (first["readable"], first["step"]) == (False, None)
    assert first["damage"]
    assert (second["readable"], second["damage"], second["step"]) == (True, "", 2)
    assert (second["variables"], second["parameters"]) == (3, 5)
    assert second["path"] == f"{folder}/model.ckpt-2"
    assert second["size_bytes"] == sum(f.stat().st_size for f in folder.glob("model.ckpt-2.*"))
    assert second["saved_at_secs"] > 1e9
    assert run("list", tmp_path) == (0, f"no checkpoints in {tmp_path}\n", "")
    (folder / "model.ckpt-2.data-00000-of-00001").write_bytes(b"")
    code, _, err = run("show", folder / "model.ckpt-2", "--values")
    assert code == 1
    assert err.startswith(f"tf-frame: the checkpoint {folder}/model.ckpt-2 cannot be read: ")


def test_diff_tells_the_difference_by_its_exit_code_and_lists_it(run, folder, tmp_path):
    first_path, second_path, new = (
        folder / "model.ckpt-1",
        folder / "model.ckpt-2",
        tmp_path / "new",
    )
    assert run("diff", folder, second_path) == (0, "no difference in 3 variables\n", "")
    code, out, _ = run("diff", first_path, folder)
    assert (code, out.splitlines()) == (
        1,
        [
            "other values (largest absolute difference): 2",
            "  global_step  1",
            "  net/w        2",
            "the same: 1",
        ],
    )
    run("rename", folder, new, "--rule", "names=net/w", "--drop", "net/w")
    code, out, _ = run("diff", folder, new)
    assert (code, out.splitlines()) == (
        1,
        [
            f"only in {second_path}: 1",
            "  names",
            "other shape or type: 1",
            "  net/w  float32 [1, 3]  string [1]",
            "the same: 1",
        ],
    )
    code, _, err = run("average", tmp_path / "mean", folder, new)
    assert (code, "are checkpoints of different models" in err) == (1, True)
    code, _, err = run("diff", folder, folder / "model.ckpt-9")
    assert code == 2
    assert err.startswith(f"tf-frame: there is no checkpoint {folder}/model.ckpt-9; did you mean")
    (folder / "model.ckpt-1.index").write_bytes(b"x")
    assert run("diff", first_path, folder)[0] == 2


def test_rename_tries_writes_and_overwrites(run, folder, tmp_path):
    new = tmp_path / "new"
    words = ["rename", folder, new, "--rule=names=texts"]
    code, out, _ = run(*words, "--dry_run")
    assert code == 0
    assert out.splitlines() == [
        "  names  ->  texts",
        f"would write {new}: 1 variables renamed, 0 dropped, 2 as they were",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["run"]
    assert run(*words)[0] == 0
    code, _, err = run(*words)
    assert (code, "--overwrite" in err) == (2, True)
    assert run(*words, "--overwrite")[0] == 0
