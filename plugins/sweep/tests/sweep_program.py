"""`tf-frame sweep` with fake runs, as a program that a test can kill."""

import sys
from pathlib import Path

from tf_frame.__main__ import main
from tf_frame_sweep import candidate

candidate.PROGRAM = (sys.executable, str(Path(__file__).with_name("fake_run.py")))

if __name__ == "__main__":
    sys.exit(main(["sweep", *sys.argv[1:]]))
