"""Runs the command line: the program `tf-frame`, and `python -m tf_frame`."""

from tf_frame.cli.main import main
from tf_frame.process_end import end_process


def run() -> None:
    """Runs the command of the command line, and ends the process."""
    end_process(main())


if __name__ == "__main__":
    run()
