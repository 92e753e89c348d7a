"""`python -m tf_frame` is `tf-frame`."""

import sys

from tf_frame.cli.main import main

sys.exit(main())
