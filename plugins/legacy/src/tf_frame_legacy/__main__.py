"""`python -m tf_frame_legacy SCRIPT`: runs an old program as `tf-frame legacy run` does."""

import sys

from tf_frame.cli.main import main

if __name__ == "__main__":
    sys.exit(main(["legacy", "run", *sys.argv[1:]]))
