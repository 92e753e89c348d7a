"""Runs the command line of tf-frame by `python -m tf_frame`."""

import sys

from tf_frame.cli.main import main

sys.exit(main())
