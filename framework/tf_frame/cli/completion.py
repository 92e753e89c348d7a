"""`tf-frame completion`: scripts that let a shell complete commands, options, names and choices.

A script calls `tf-frame completion words WORD ...` at each TAB. The answer comes from the same
tables as parsing and help, and therefore includes the options of plugins.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
from collections.abc import Callable, Iterable, Iterator, Sequence

from tf_frame.cli.main import COMMANDS
from tf_frame.command_line.package_command import load_command
from tf_frame.command_line.parsing import parse_command_line
from tf_frame.command_line.screen import report, report_help
from tf_frame.command_line.selection import LOCKED, SELECTION, TRYING
from tf_frame.config.option import Option, declared_options
from tf_frame.config.run_options import run_options
from tf_frame.config.values import not_a_choice, to_text
from tf_frame.errors import EXIT_OK, EXIT_USAGE, ConfigError, TfFrameError
from tf_frame.plugin import kinds
from tf_frame.plugin.commands import installed_commands
from tf_frame.plugin.find import find_plugins
from tf_frame.plugin.load import load_plugin
from tf_frame.runs.setup.model_dir import CONFIG_FILE

_USAGE = """usage: tf-frame completion bash|zsh|fish

Prints a script that completes the words of tf-frame in a shell. To load it in each shell:

  bash   echo 'source <(tf-frame completion bash)' >> ~/.bashrc
  zsh    echo 'source <(tf-frame completion zsh)' >> ~/.zshrc     (after compinit)
  fish   tf-frame completion fish > ~/.config/fish/completions/tf-frame.fish"""

# The scripts call the command as the user typed it, so that the active environment answers.
# Without an answer a shell completes the names of files.
_SCRIPTS = {
    "bash": """\
_tf_frame() {
  local word
  COMPREPLY=()
  while IFS= read -r word; do
    COMPREPLY+=("$(printf %q "$word")")
  done < <("$1" completion words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o bashdefault -o default -F _tf_frame tf-frame""",
    "zsh": """\
#compdef tf-frame
_tf_frame() {
  local -a found
  found=(${(f)"$("${words[1]}" completion words "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( $#found )); then compadd -- $found; else _files; fi
}
compdef _tf_frame tf-frame""",
    "fish": """\
function __tf_frame_words
  set -l words (commandline -opc)
  $words[1] completion words $words[2..-1] (commandline -ct) 2>/dev/null
end
complete -c tf-frame -a '(__tf_frame_words)'""",
}
_KINDS = {
    "plugin": kinds.MODEL,
    "input": kinds.INPUT,
    "optimizer": kinds.OPTIMIZER,
    "schedule": kinds.LEARNING_RATE,
    "transform": kinds.GRADIENT_TRANSFORM,
    "hook": kinds.HOOK,
}


def main(argv: Sequence[str]) -> int:
    """Runs the sub-command and returns its exit code."""
    if argv and argv[0] == "words":
        words: Sequence[str] = ()
        # A plugin may print when it is imported, and at TAB there is no place for errors.
        with contextlib.suppress(TfFrameError), contextlib.redirect_stdout(io.StringIO()):
            words = candidates(argv[1:])
        for word in words:
            report(word)
        return EXIT_OK
    if not argv or any(word in ("-h", "--help") for word in argv):
        report_help(_USAGE)
        return EXIT_OK if argv else EXIT_USAGE
    if argv[0] not in _SCRIPTS:
        raise ConfigError(f"tf-frame completion: {not_a_choice(argv[0], _SCRIPTS)}")
    report(_SCRIPTS[argv[0]])
    return EXIT_OK


def candidates(words: Sequence[str]) -> list[str]:
    """Returns the words that may replace the last one.

    Args:
      words: the words after `tf-frame`; the last one is not complete, perhaps empty. Bash splits
        `--name=value` into three words.
    """
    *before, current = words or [""]
    if not before:
        commands = [*COMMANDS, *(info.name for info in installed_commands())]
        return _beginning(current, [*commands, "--help", "--version"])
    command, *earlier_words = before
    if current == "=":
        current, earlier_words = "", [*earlier_words, "="]
    if earlier_words[-1:] == ["="]:
        earlier_words = earlier_words[:-1]
    if current.startswith("--") and "=" in current:
        name, _, value = current.partition("=")
        return [f"{name}={text}" for text in candidates([command, *earlier_words, name, value])]
    complete = _COMMANDS.get(command, _after_package_command)
    return _beginning(current, complete(command, earlier_words, current))


def _beginning(current: str, words: Iterable[str]) -> list[str]:
    return [word for word in words if word.startswith(current)]


def _after_package_command(command: str, words: Sequence[str], current: str) -> Iterable[str]:
    plugin = load_command(command) if current.startswith("-") or words else None
    options = declared_options(plugin.cls.Params) if plugin else ()
    return _options_or_values(options, words, current, other_words=["--help"] if plugin else [])


def _after_run(command: str, words: Sequence[str], current: str) -> Iterable[str]:
    of_plugins = _plugin_options(words, current)
    options = [*SELECTION, *TRYING, *run_options(), *of_plugins]
    return _options_or_values(options, words, current, other_words=["--help", "--help_all"])


def _after_launch(command: str, words: Sequence[str], current: str) -> Iterable[str]:
    """Options of a job up to `--`, and then the words of every task."""
    module = importlib.import_module(COMMANDS[command][0])
    job_words, run_words = module.split_at_dashes(words)
    if len(job_words) < len(words):
        return candidates([*run_words, current]) if run_words else ["run"]
    # The value of the last option is still to come.
    options = module.options_for(job_words[:-1] if job_words[-1:] == ["--on"] else job_words)
    return _options_or_values(options, job_words, current, other_words=["--", "--help"])


def _after_own(command: str, words: Sequence[str], current: str) -> Iterable[str]:
    """A command that takes paths and its own options."""
    options = importlib.import_module(COMMANDS[command][0]).OPTIONS
    return _options_or_values(options, words, current)


def _after_folder(command: str, words: Sequence[str], current: str) -> Iterable[str]:
    """`evaluate`, `predict` and `export`: MODEL_DIR, then options of the command or of a run."""
    own_options = importlib.import_module(COMMANDS[command][0]).OPTIONS
    if not words:
        return ["--help"] if current.startswith("-") else []
    folder, *option_words = words
    file = os.path.join(os.path.expanduser(folder), CONFIG_FILE)
    of_plugins = _plugin_options(["--config", file, *option_words], current)
    hidden = {option.name for option in own_options}
    run_and_plugins = [o for o in [*run_options(), *of_plugins] if o.name not in hidden]
    return _options_or_values([*own_options, LOCKED, *run_and_plugins], option_words, current)


def _after_profile(command: str, words: Sequence[str], current: str) -> Iterable[str]:
    """`profile`: a word and its options, or options of a training."""
    package = COMMANDS[command][0]
    names = importlib.import_module(package).SUB_COMMANDS
    if words and words[0] in names:
        options = importlib.import_module(f"{package}.{words[0]}").OPTIONS
        return _options_or_values(options, words[1:], current)
    of_training = _after_tune("record", words, current)
    return [*(names if not words else ()), *of_training]


def _after_tune(command: str, words: Sequence[str], current: str) -> Iterable[str]:
    """`tune`, and `profile` of a training: options of the command, then those of a run."""
    modules = {"tune": COMMANDS["tune"][0], "record": f"{COMMANDS['profile'][0]}.record"}
    own_options = importlib.import_module(modules[command]).OPTIONS
    options = [*own_options, *SELECTION, *run_options(), *_plugin_options(words, current)]
    return _options_or_values(options, words, current)


def _after_convert(command: str, words: Sequence[str], current: str) -> Iterable[str]:
    if not words:
        return [*_names(kinds.CONVERTER), "--help"]
    cls = load_plugin(kinds.CONVERTER, words[0]).cls
    return _options_or_values(declared_options(cls.Params), words[1:], current)


def _after_plugins(command: str, words: Sequence[str], current: str) -> Iterable[str]:
    sub_commands = importlib.import_module(COMMANDS[command][0]).SUB_COMMANDS
    if not words:
        return [*sub_commands, "--help"]
    module, arguments, _ = sub_commands.get(words[0], ("", "", ""))
    if len(words) == 1 and arguments.startswith("NAME") and words != ["new"]:
        return sorted({info.name for info in find_plugins()})
    options = getattr(importlib.import_module(module), "OPTIONS", ()) if module else ()
    return _options_or_values(options, words[1:], current)


def _after_checkpoint(command: str, words: Sequence[str], current: str) -> Iterable[str]:
    commands = importlib.import_module(COMMANDS[command][0]).SUB_COMMANDS
    if not words:
        return [*commands, "--help"]
    options = commands[words[0]].options if words[0] in commands else ()
    return _options_or_values(options, words[1:], current)


_COMMANDS: dict[str, Callable[[str, Sequence[str], str], Iterable[str]]] = {
    "run": _after_run,
    "launch": _after_launch,
    "status": _after_own,
    "evaluate": _after_folder,
    "predict": _after_folder,
    "export": _after_folder,
    "profile": _after_profile,
    "tune": _after_tune,
    "convert": _after_convert,
    "plugins": _after_plugins,
    "checkpoint": _after_checkpoint,
    "doctor": _after_own,
    "tensorboard": _after_own,
    "completion": lambda command, words, current: () if words else [*_SCRIPTS, "--help"],
}


def _options_or_values(
    options: Sequence[Option],
    before: Sequence[str],
    current: str,
    *,
    other_words: Sequence[str] = ("--help",),
) -> Iterator[str]:
    """Yields the values of the last option, or else the flags of all options."""
    named = {f"--{option.name}": option for option in options}
    last = named.get(before[-1]) if before else None
    if last is not None and last.type is not bool:
        yield from _values(last, before)
    # The shell completes files.
    elif current.startswith("-"):
        yield from (*named, *other_words)
        if current.startswith("--no"):
            yield from (f"--no{o.name}" for o in options if o.type is bool)


def _values(option: Option, before: Sequence[str]) -> Iterator[str]:
    if option.choices:
        yield from map(to_text, option.choices)
    elif option in SELECTION and option.name in _KINDS:
        yield from _names(_KINDS[option.name])
    elif option in SELECTION and option.name == "preset":
        line = parse_command_line(before[:-1])
        if line.chosen:
            yield from sorted(getattr(line.chosen.single["model"].plugin.cls, "presets", {}))


def _names(kind: kinds.Kind) -> list[str]:
    return sorted({info.name for info in find_plugins() if info.kind == kind})


def _plugin_options(words: Sequence[str], current: str) -> Sequence[Option]:
    """Returns the options of the plugins that the words name, if the current word may be one."""
    if not (current.startswith("-") or any("." in word for word in words[-1:])):
        return []
    try:
        chosen = parse_command_line(words).chosen
    except TfFrameError:
        # Another word is wrong or incomplete; the run options can be completed nonetheless.
        return []
    return chosen.plugin_options() if chosen else []
