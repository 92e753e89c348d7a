"""Changes the environment."""

import os

from nonconforming.parts import Constant

os.environ["TF_GPU_THREAD_MODE"] = "gpu_private"


class Plugin(Constant):
    pass
