"""Random values of options, configurations and files that no program expects."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import yaml
from changes import damage
from structure import TEXTS

_NUMBERS = (*("0", "-1", "1", "2", "0.5", "1e-3", "1e309", "nan", "-inf", "0x10", "010", "1_000"),)
_SIGNS = (",", ",,", "a,b", ":", "=", "a=b", "[", "[]", "[1, 2]", "{}", "{a: b}", "none", "true")
_SHELL = ("$(id)", "`id`", "'", '"', "; id", "a b", "--help", "-", "--", "%s", "\\", "\u00e9", "*")
# Text in which slow patterns take minutes, and numbers that Python writes no more.
_LONG = ("x" * 100_000, "9" * 5000, "0x" + "f" * 5000, "1:" * 2000 + "1", "a," * 20_000, "(" * 2000)
_YAML_ONLY = (
    "&a [*a]",
    "!!python/object/apply:os.getcwd []",
    "2026-13-45",
    "!!binary aGVsbG8=",
    "!!set {a, b}",
    "[" * 200,
    "0x" + "f" * 5000,
    "[" + "x," * 200_000 + "]",
    "\n  " + "".join(f"k{n}: {n}\n  " for n in range(3000)),
)


def odd_text(random: Random) -> str:
    """Returns a text for an option or a variable: never with a zero, which no process can get."""
    source = random.choice((_NUMBERS, _NUMBERS, _SIGNS, _SHELL, TEXTS, TEXTS, _LONG))
    return str(random.choice(source)).replace("\0", "")


def odd_name(name: str, random: Random) -> str:
    """Returns the name of an option with a mistake."""
    place = random.randrange(len(name) + 1)
    changed = (name[:place] + name[place + 1 :], name + odd_text(random), odd_text(random))
    return random.choice(changed)


def odd_value(random: Random) -> Any:
    """Returns a value of a configuration: a text, a number, a list, a mapping."""
    made: tuple[Callable[[], Any], ...] = (
        lambda: odd_text(random),
        lambda: random.choice((None, True, 0, -1, 2**63, 10**4000, 1e300, math.nan, -math.inf)),
        lambda: [odd_text(random) for _ in range(random.choice((0, 1, 3)))],
        lambda: [odd_text(random)[:9]] * 3000,
        lambda: {odd_text(random): odd_text(random) for _ in range(random.choice((0, 1, 2)))},
    )
    return random.choice(made)()


def write_odd_configuration(path: Path, content: Mapping[str, Any], random: Random) -> str:
    """Writes a configuration file with changes, and returns a description."""
    changed = json.loads(json.dumps(content))
    what = [_change_mapping(changed, random) for _ in range(random.choice((1, 1, 1, 2)))]
    text = yaml.safe_dump(changed, sort_keys=False, allow_unicode=True)
    if random.random() < 0.2:
        key = random.choice(("max_steps", "model", "input", "hooks", "versions"))
        text, what = f"{text}\n{key}: {random.choice(_YAML_ONLY)}\n", [*what, f"YAML of {key}"]
    path.write_text(text, encoding="utf-8", errors="replace")
    if random.random() < 0.3:
        what.append(damage(path, random, path.parent / "outside"))
    return ", ".join(what)


def _change_mapping(content: Any, random: Random) -> str:
    places = [content, *(value for value in content.values() if isinstance(value, dict))]
    section = random.choice([place for place in places if place])
    key = random.choice(sorted(section))
    if random.random() < 0.3:
        section[odd_name(key, random)] = section.pop(key)
        return f"name of {key}"
    section[key] = odd_value(random)
    return f"value of {key}"


def odd_cluster(random: Random) -> dict[str, str]:
    """Returns the variables of a scheduler, with changes."""
    addresses = [f"host{number}:2222" for number in range(3)]
    task = {"type": "worker", "index": 0}
    cluster: dict[str, Any] = {
        "chief": addresses[:1],
        "worker": addresses[1:2],
        "ps": addresses[2:],
    }
    tf_config: dict[str, Any] = {"cluster": cluster, "task": task}
    _change_mapping(random.choice((tf_config, cluster, task)), random)
    text = json.dumps(tf_config)
    if random.random() < 0.3:
        place = random.randrange(len(text))
        text = text[:place] + odd_text(random) + text[place + random.randrange(3) :]
    variables = {
        "TF_CONFIG": text,
        "SLURM_JOB_ID": "7",
        "SLURM_STEP_NODELIST": "n[1-2]",
        "SLURM_STEP_TASKS_PER_NODE": "1(x2)",
        "SLURM_NODEID": "0",
        "SLURM_LOCALID": "0",
    }
    name = random.choice(sorted(variables))
    if name != "TF_CONFIG":
        variables[name] = random.choice(
            ("", odd_text(random), "n[1-99999]", "n[1-9]" * 5, "1(x99999)", "9" * 5000, "n[" * 999)
        )
    return {key: value.replace("\0", "") for key, value in variables.items()}
