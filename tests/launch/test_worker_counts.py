"""Jobs that go on with fewer workers, and take new ones: `--num_workers 2..4`."""

import pytest

from fake_tasks import LIMITS, OPTIONS, fake_job, program
from tf_frame.launch import local

PRELUDE = """
count = 1 + len(json.loads(os.environ["TF_CONFIG"])["cluster"].get("worker", []))
run = folder.parent / "run"
end_at_sigterm(143)
def save(step):
    (run / f"model.ckpt-{step}.index").touch()
with (folder / "counts").open("a") as file:
    file.write(f"{name} of {count}\\n")
"""
# The second worker dies at each start until the chief of two workers has saved.
COMES_BACK = """
if name == "worker-1" and not (folder / "well").exists():
    os.kill(os.getpid(), signal.SIGKILL)
if name == "chief-0" and count == 2:
    note("well")
    save(5)
if name == "chief-0" and count == 3 and (folder / "well").exists():
    note("done")
    sys.exit(0)
wait("done")
"""
STAYS_AWAY = """
if name == "worker-1":
    os.kill(os.getpid(), signal.SIGKILL)
if name == "chief-0" and count == 2:
    saves = folder / "saves"
    with saves.open("a") as file:
        file.write("x")
    number = len(saves.read_text())
    if number > 2:
        note("done")
        sys.exit(0)
    for more in range(number):
        save(10 * number + more)
wait("done")
"""
# Without a worker, nothing is left that could be fewer.
ALL_DIE = "os.kill(os.getpid(), signal.SIGKILL)"


def launch(tmp_path, capsys, code, **job):
    exit_code = local.main(
        fake_job(tmp_path, **job),
        OPTIONS | {"max_restarts": 1},
        program=program(tmp_path / "notes", PRELUDE + code),
        limits=LIMITS | {"save_secs": 20},
    )
    started = (tmp_path / "notes" / "counts").read_text().splitlines()
    chiefs = [line for line in started if line.startswith("chief-0")]
    out = capsys.readouterr().out
    return exit_code, out, chiefs


@pytest.mark.process
def test_a_job_goes_on_without_a_worker_and_takes_it_back_at_the_next_checkpoint(tmp_path, capsys):
    code, out, chiefs = launch(tmp_path, capsys, COMES_BACK, num_workers=3, min_workers=2)
    assert code == 0
    assert chiefs == ["chief-0 of 3", "chief-0 of 2", "chief-0 of 3"]
    lines = [
        "worker-1 was killed by SIGKILL, after 1 of at most 1 restarts; the job goes on without",
        "going on with 2 workers from the last checkpoint",
        "all workers are tried again: the tasks save and stop",
        "going on with 3 workers",
    ]
    places = [out.index(line) for line in lines]
    assert places == sorted(places)
    assert "done in" in out


@pytest.mark.process
def test_a_worker_that_stays_away_is_tried_less_and_less_often(tmp_path, capsys):
    code, out, chiefs = launch(tmp_path, capsys, STAYS_AWAY, num_workers=3, min_workers=1)
    assert code == 0
    # After one checkpoint, after two more, and not before four more.
    assert out.count("all workers are tried again") == 2
    assert chiefs == ["chief-0 of 3", "chief-0 of 2"] * 3


@pytest.mark.process
def test_below_the_least_number_the_job_fails(tmp_path, capsys):
    code, out, _ = launch(tmp_path, capsys, ALL_DIE, num_workers=3, min_workers=2)
    assert code == 1
    assert out.count("going on with 2 workers") == 1
    assert "failed:" in out
