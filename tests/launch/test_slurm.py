import os
import shlex
import subprocess
import sys

import pytest
from hypothesis import strategies

from properties import COUNTS, TEXTS, check_many
from tf_frame.cli.main import main
from tf_frame.cluster.slurm import PORT
from tf_frame.errors import ConfigError, TfFrameError
from tf_frame.launch import slurm
from tf_frame.launch.job import Job
from tf_frame.text import printable

VALUES = {option.name: option.default for option in slurm.OPTIONS}
SBATCH = """#!/bin/sh
echo "$@" > {folder}/sbatch-was-given
echo "12;cluster"
"""


def make_job(model_dir="/shared/first", **more):
    words = ["run", "--plugin", "toy", "--model_dir", str(model_dir)]
    return Job(words=words, model_dir=str(model_dir), num_ps=1, num_workers=2, **more)


def directives(text):
    """The options in a script, as sbatch takes them apart."""
    lines = [line for line in text.splitlines() if line.startswith("#SBATCH ")]
    return [shlex.split(line.removeprefix("#SBATCH "))[0] for line in lines]


def command(text):
    """The words of the program that srun starts."""
    words = shlex.split(text[text.index("\nsrun ") : text.index(" &\n")].replace("\\\n", " "))
    return words[words.index("task") + 1 :]


def test_a_range_of_workers_is_a_range_of_nodes(sbatch, tmp_path, capsys):
    job = make_job(tmp_path, min_workers=1)
    sizes = [option for option in directives(slurm.script(job, VALUES)) if "n" in option[:4]]
    assert sizes == ["--nodes=2-3", "--ntasks-per-node=1"]
    assert slurm.main(job, VALUES) == 0
    assert "submitted: 1 to 2 workers, each task on a node of its own" in capsys.readouterr().out


@pytest.fixture
def sbatch(tmp_path, monkeypatch):
    """A program `sbatch` that takes every job."""
    program = tmp_path / "bin" / "sbatch"
    program.parent.mkdir()
    program.write_text(SBATCH.format(folder=tmp_path))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return program


@pytest.mark.parametrize(
    "values, options",
    [
        ("--partition gpu --time 10:00", ["--partition=gpu", "--time=10:00"]),
        ("-p gpu -t 10:00 --exclusive", ["-pgpu", "-t10:00", "--exclusive"]),
        ("--export=ALL,A=1 --comment 'two words'", ["--export=ALL,A=1", "--comment=two words"]),
        ("--constraint a=b", ["--constraint=a=b"]),
        (r"""--comment 'a "quoted" # word'""", ['--comment=a "quoted" # word']),
    ],
)
def test_options_for_sbatch_follow_those_of_the_script(values, options):
    text = slurm.script(make_job(), VALUES | {"slurm_options": values})
    assert directives(text)[7:] == options


@pytest.mark.parametrize(
    "values, message",
    [
        ("gpu", "'gpu' is no option of sbatch"),
        ("--time 10 gpu", "'gpu' is no option of sbatch"),
        ("--time=10 gpu", "'gpu' is no option of sbatch"),
        ("-p a b", "'b' is no option of sbatch"),
        ("--comment 'a\nb'", "is no option of sbatch"),
        ("--comment 'a", "No closing quotation"),
    ],
)
def test_what_is_no_option_of_sbatch_is_refused(values, message):
    with pytest.raises(ConfigError, match=message):
        slurm.script(make_job(), VALUES | {"slurm_options": values})


def test_gpus_and_the_first_port(capsys):
    words = ["launch", "--on", "slurm", "--print_only", "--gpus_per_worker", "2", "--num_ps", "1"]
    run = ["--slurm_port", "3000", "--", "run", "--plugin", "deeplab"]
    assert main([*words, *run]) == 0
    text = capsys.readouterr().out
    assert "--gpus-per-task=2" in directives(text)
    assert f"\nexport {PORT}=3000\n" in text
    assert PORT not in slurm.script(make_job(), VALUES)


def test_the_job_is_submitted_and_the_user_told_how_to_look(tmp_path, sbatch, capsys):
    model_dir = tmp_path / "my run"
    assert slurm.main(make_job(model_dir), VALUES) == 0
    path = model_dir / "job.sbatch"
    assert path.read_text() == slurm.script(make_job(model_dir), VALUES)
    assert (tmp_path / "sbatch-was-given").read_text() == f"--parsable {path}\n"
    assert (model_dir / "logs").is_dir()
    assert capsys.readouterr().out.splitlines() == [
        f"job 12 is submitted: 3 tasks, {path}",
        "  squeue --job 12",
        f"  tail -F '{model_dir}/logs'/slurm-*.log",
        f"  tf-frame status '{model_dir}'",
        "  scancel 12      all tasks save and stop",
        f"  sbatch '{path}'      goes on from the last checkpoint",
    ]


def test_print_only_writes_and_submits_nothing(tmp_path, sbatch, capsys):
    job = make_job(tmp_path / "run")
    assert slurm.main(job, VALUES | {"print_only": True}) == 0
    assert capsys.readouterr().out == slurm.script(job, VALUES)
    assert not (tmp_path / "run").exists() and not (tmp_path / "sbatch-was-given").exists()


def test_the_logs_of_a_run_in_a_bucket_are_in_a_folder_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = slurm.script(make_job("gs://bucket/runs/first"), VALUES)
    assert f"--output={tmp_path}/slurm-first/logs/slurm-job-%j.log" in directives(text)
    assert "--job-name=first" in directives(text)


def test_the_script_starts_a_process_for_each_task_which_finds_itself_in_slurm():
    job = make_job(evaluator=True)
    text = slurm.script(job, VALUES)
    assert text.splitlines()[1].endswith(": mkdir -p /shared/first/logs")
    assert directives(text) == [
        "--job-name=first",
        "--ntasks=4",
        "--output=/shared/first/logs/slurm-job-%j.log",
        "--open-mode=append",
        "--signal=B:USR1@60",
        "--requeue",
        f"--chdir={os.getcwd()}",
    ]
    assert command(text) == [
        *(sys.executable, "-m", "tf_frame", *job.words),
        *("--cluster_from", "slurm", "--num_ps_tasks", "1", "--dedicated_evaluator"),
    ]
    # The option of an evaluator is not given twice, nor without one.
    words = [*job.words, "--dedicated_evaluator"]
    job = Job(words=words, model_dir=job.model_dir, evaluator=True)
    assert command(slurm.script(job, VALUES)).count("--dedicated_evaluator") == 1
    assert "--dedicated_evaluator" not in slurm.script(make_job(), VALUES)


def test_paths_with_spaces_quotes_and_percent_signs():
    text = slurm.script(make_job("/my runs/50%"), VALUES)
    assert "--output=/my runs/50%%/logs/slurm-job-%j.log" in directives(text)
    assert "--output='/my runs/50%%/logs/slurm-task-%t.log'" in text
    assert "/my runs/50%" in command(text)
    text = slurm.script(make_job("/my runs/it's"), VALUES | {"slurm_port": 3000})
    subprocess.run(["bash", "-n"], input=text, text=True, check=True)


# What srun starts is a program that writes down the words it is given.
SRUN = """#!/bin/bash
while [[ $1 == --* ]]; do shift; done
exec "$@"
"""
PYTHON = """#!/bin/bash
printf '%s\\0' "$@" > {folder}/given
"""


@pytest.fixture
def given_words(tmp_path, monkeypatch):
    """Runs a script as Slurm does, and returns the words that a task gets."""
    for name, text in (("srun", SRUN), ("python", PYTHON.format(folder=tmp_path))):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setattr(slurm.sys, "executable", str(tmp_path / "python"))
    path = f"{tmp_path}:{os.environ['PATH']}"

    def run(text):
        subprocess.run(["bash"], input=text.encode(), env={"PATH": path}, check=True)
        return (tmp_path / "given").read_bytes().split(b"\0")[:-1]

    return run


# No process gets a zero in a word.
WORDS = TEXTS.filter(lambda text: "\0" not in text) | strategies.sampled_from(
    ["$(id)", "`id`", "-x", "--", "a b", "&", "; exit 3", "\x1b[1m", "\u00a0", "*", "!", "\\"]
)


@COUNTS
def test_a_task_gets_the_words_of_the_job(count, given_words):
    def check(words):
        words = ["run", *words]
        text = slurm.script(Job(words=words, model_dir="/shared/first"), VALUES)
        expected = [*words, "--cluster_from", "slurm", "--num_ps_tasks", "0"]
        assert given_words(text) == [b"-m", b"tf_frame", *(word.encode() for word in expected)]
        assert printable(text, keep="\n") == text

    check_many(check, count, words=strategies.lists(WORDS, max_size=5))


@COUNTS
def test_sbatch_reads_the_name_of_the_folder_or_the_job_is_refused(count):
    def check(name):
        try:
            text = slurm.script(make_job(f"/shared/{name}"), VALUES)
        except ConfigError:
            assert printable(name) != name
        else:
            name_line, _, log_line, *_ = directives(text)
            assert name_line == f"--job-name={name}"
            folder = log_line.removeprefix("--output=").removesuffix("/logs/slurm-job-%j.log")
            assert folder == f"/shared/{name}".replace("%", "%%")

    names = WORDS.filter(lambda name: "/" not in name and name not in ("", ".", ".."))
    check_many(check, count, name=names)


@pytest.mark.parametrize("code", [0, 3])
def test_a_step_that_is_over_before_the_script_waits_keeps_its_exit_code(tmp_path, code):
    (tmp_path / "srun").write_text(f"#!/bin/bash\nexit {code}\n")
    (tmp_path / "srun").chmod(0o755)
    # Before each command of the script, as soon as there is a step.
    until_over = """trap '[ -z "$step" ] || while kill -0 $step 2>&-; do :; done' DEBUG\n"""
    text = until_over + slurm.script(Job(words=["run"], model_dir="/shared/first"), VALUES)
    path = f"{tmp_path}:{os.environ['PATH']}"
    done = subprocess.run(["bash"], input=text.encode(), env={"PATH": path}, check=False)
    assert done.returncode == code


def test_blanks_of_other_scripts_are_kept():
    text = slurm.script(make_job("/shared/a\u00a0b\u3000c"), VALUES)
    assert directives(text)[0] == "--job-name=a\u00a0b\u3000c"


@pytest.mark.parametrize("name", ["a\nscancel 1", "a\r", "a\x1b[1m", "a\u2028b"])
def test_a_line_end_in_a_name_or_an_option_is_refused_and_starts_nothing(tmp_path, sbatch, name):
    with pytest.raises(ConfigError, match="has a line end or another control character, which a"):
        slurm.main(make_job(tmp_path / name), VALUES)
    options = {"slurm_options": shlex.join(["--comment", name.replace("\n", "\r")])}
    with pytest.raises(ConfigError, match="control character"):
        slurm.script(make_job(), VALUES | options)
    assert not (tmp_path / "sbatch-was-given").exists()


def test_a_job_that_cannot_be_submitted(tmp_path, sbatch, monkeypatch):
    sbatch.write_text("#!/bin/sh\necho 'sbatch: error: no such partition' >&2\nexit 1\n")
    with pytest.raises(TfFrameError, match=r"sbatch refused .*: sbatch: error: no such partition"):
        slurm.main(make_job(tmp_path / "run"), VALUES)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TfFrameError, match=r"no program sbatch here; submit .*job\.sbatch on a"):
        slurm.main(make_job(tmp_path / "run"), VALUES)
