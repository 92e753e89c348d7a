"""`tf_frame.runs.training.evaluations`: the command that goes on with a run is one for a shell."""

import subprocess
import types

from properties import COUNTS, TEXTS, check_many
from tf_frame.runs.setup.training_setup import TRAIN, TRAIN_AND_EVALUATE
from tf_frame.runs.training.evaluations import how_to_resume


@COUNTS
def test_the_command_to_resume_can_be_pasted_whatever_the_name_of_the_folder(count):
    def check(folder):
        for mode, words in ((TRAIN, ()), (TRAIN_AND_EVALUATE, ("--mode", TRAIN_AND_EVALUATE))):
            config = types.SimpleNamespace(max_steps=9)
            setup = types.SimpleNamespace(config=config, mode=mode, model_dir=folder)
            stopped, line = how_to_resume(setup, 4).split("\n")
            assert stopped == "stopped and saved at step 4 of 9"
            program = line.replace("resume with: tf-frame run", "printf '%s\\0'", 1)
            done = subprocess.run(["bash", "-c", program], capture_output=True, check=True)
            given = done.stdout.decode().split("\0")[:-1]
            assert given == [*words, "--model_dir", folder]

    check_many(check, count, folder=TEXTS.filter(lambda text: "\0" not in text))
