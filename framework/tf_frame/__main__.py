"""Runs the command line by `python -m tf_frame`, where `tf-frame` is not on the PATH."""

import sys

from tf_frame.cli.main import main

sys.exit(main())
