"""Makes a virtual environment with the packages of this one, where `python3 -m venv` is asked for.

pip in it finds nothing on an index, and takes what is here for installed.
"""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).parents[1])
    from plugin_environment import PluginEnvironment

    PluginEnvironment(Path(sys.argv[1]).absolute())
