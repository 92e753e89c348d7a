"""Names that other packages and Python took away, with what stands for each."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from tf_frame_legacy.names.families.old_packages import (
    MEMBERS,
    OLD_PACKAGES,
    PYTHON_2_MODULES,
    ROWS,
)
from tf_frame_legacy.source import installed

_NUMPY = (
    "cast=np.asarray find_common_type=np.result_type obj2sctype=np.dtype sctypes=np.dtype math=math"
)
_PYTHON_2_NAMES = (
    "xrange=range raw_input=input unicode=str basestring=str long=int unichr=chr reduce="
    "functools.reduce execfile=exec file=open cmp=(a>b)-(a<b) reload=importlib.reload "
    "apply=f(*args) intern=sys.intern buffer=memoryview"
)
_PYTHON_2_MEMBERS = "sys.maxint=sys.maxsize os.getcwdu=os.getcwd"
_REPLACED_MODULES = "cPickle=pickle StringIO=io cStringIO=io urllib2=urllib.request imp=importlib"


def _pairs(text: str, prefix: str = "") -> dict[str, str]:
    return {prefix + name: new for name, _, new in (pair.partition("=") for pair in text.split())}


@functools.cache
def replacement(name: str) -> str:
    """Returns what `--with_old_packages` gives a program for a name of another package.

    Empty for all other names, and for a name that the installed package still has.
    """
    # Programs say `plt.cm.get_cmap`, too.
    name = name.replace("matplotlib.pyplot.cm.", "matplotlib.cm.")
    new = _given_back().get(name, "")
    return new if new and not installed.defines(name) else ""


@functools.cache
def _given_back() -> Mapping[str, str]:
    return {row.was: row.target.removeprefix("builtins.") for row in ROWS} | MEMBERS


PYTHON_2_BUILTINS = _pairs(_PYTHON_2_NAMES)
RESTORED_BUILTINS = ("basestring", "unicode", "unichr", "long", "xrange", "raw_input")
# Members of modules: of the standard library of Python 2, and others that nobody restores.
GONE = {**_pairs(_PYTHON_2_MEMBERS), **_pairs(_NUMPY, "numpy.")}
# Modules that Python has no more.
MODULES = {**PYTHON_2_MODULES, **_pairs(_REPLACED_MODULES), "distutils": "setuptools"}
RESTORED_MODULES = {*PYTHON_2_MODULES, *OLD_PACKAGES}
# Methods of Python 2's dict, and of NumPy's arrays; the switch gives them back.
METHODS = {
    "iteritems": "items()",
    "itervalues": "values()",
    "iterkeys": "keys()",
    "has_key": "`in`",
    "tostring": "tobytes()",
    "itemset": "a[...] = value",
    "as_matrix": "to_numpy()",
    "getchildren": "list(element)",
    "getiterator": "iter()",
    "isAlive": "is_alive()",
}
