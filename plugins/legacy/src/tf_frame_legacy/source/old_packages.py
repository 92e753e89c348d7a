"""Names that other packages and Python took away, with what stands for each.

`RESTORED` are those that `tf-frame legacy run --with_old_packages` gives back.
"""

from __future__ import annotations

from collections.abc import Mapping

_TYPES = "int=int float=float complex=complex object=object str=str unicode=str float_=np.float64"
_NUMPY = (
    f"{_TYPES} complex_=np.complex128 unicode_=np.str_ string_=np.bytes_ longfloat=np.longdouble "
    "singlecomplex=np.complex64 cfloat=np.complex128 Inf=np.inf Infinity=np.inf infty=np.inf "
    "PINF=np.inf NINF=-np.inf NaN=np.nan NAN=np.nan PZERO=0.0 NZERO=-0.0 product=np.prod "
    "cumproduct=np.cumprod sometrue=np.any alltrue=np.all in1d=np.isin trapz=np.trapezoid "
    "row_stack=np.vstack round_=np.round asscalar=array.item msort=np.sort mat=np.asmatrix "
    "asfarray=np.asarray alen=len rank=np.ndim typeDict=np.sctypeDict math=math cast=np.asarray "
    "find_common_type=np.result_type obj2sctype=np.dtype"
)
_COLLECTIONS = (
    "Awaitable ByteString Callable Collection Container Coroutine Generator Hashable ItemsView "
    "Iterable Iterator KeysView Mapping MappingView MutableMapping MutableSequence MutableSet "
    "Reversible Sequence Set Sized ValuesView"
)
_SCIPY_MISC = (
    "imread=imageio.imread imresize=PIL.Image.resize imsave=PIL.Image.save "
    "imrotate=PIL.Image.rotate toimage=PIL.Image.fromarray fromimage=np.asarray "
    "bytescale=np.interp imshow=PIL.Image.show "
    "logsumexp=scipy.special.logsumexp comb=scipy.special.comb factorial=scipy.special.factorial"
)
_PYTHON_2_NAMES = (
    "xrange=range raw_input=input unicode=str basestring=str long=int unichr=chr reduce="
    "functools.reduce execfile=exec file=open cmp=(a>b)-(a<b) reload=importlib.reload "
    "apply=f(*args) intern=sys.intern buffer=memoryview"
)
_PYTHON_2_MODULES = (
    "cPickle=pickle Queue=queue ConfigParser=configparser StringIO=io cStringIO=io urllib2="
    "urllib.request urlparse=urllib.parse httplib=http.client Tkinter=tkinter commands=subprocess "
    "__builtin__=builtins copy_reg=copyreg HTMLParser=html.parser thread=_thread SocketServer="
    "socketserver cookielib=http.cookiejar dummy_thread=_thread anydbm=dbm Image=PIL.Image"
)
_PYTHON_2_MEMBERS = (
    "sys.maxint=sys.maxsize os.getcwdu=os.getcwd itertools.izip=zip itertools.imap=map "
    "itertools.ifilter=filter itertools.izip_longest=itertools.zip_longest string.letters="
    "string.ascii_letters string.lowercase=string.ascii_lowercase string.uppercase="
    "string.ascii_uppercase string.maketrans=str.maketrans string.join=str.join urllib.urlretrieve="
    "urllib.request.urlretrieve urllib.urlopen=urllib.request.urlopen urllib.quote="
    "urllib.parse.quote urllib.unquote=urllib.parse.unquote urllib.urlencode=urllib.parse.urlencode"
)


def _pairs(text: str, prefix: str = "") -> dict[str, str]:
    return {prefix + name: new for name, _, new in (pair.partition("=") for pair in text.split())}


RESTORED: Mapping[str, str] = {
    **_pairs(_NUMPY, "numpy."),
    **_pairs(_SCIPY_MISC, "scipy.misc."),
    **{f"collections.{name}": f"collections.abc.{name}" for name in _COLLECTIONS.split()},
    "PIL.Image.ANTIALIAS": "PIL.Image.LANCZOS",
    "PIL.Image.LINEAR": "PIL.Image.BILINEAR",
    "PIL.Image.CUBIC": "PIL.Image.BICUBIC",
    "time.clock": "time.perf_counter",
    "inspect.getargspec": "inspect.getfullargspec",
}
# Builtins and members of the standard library of Python 2, and old names of later versions.
PYTHON_2_BUILTINS = _pairs(_PYTHON_2_NAMES)
PYTHON_2_MEMBERS = {**_pairs(_PYTHON_2_MEMBERS), "fractions.gcd": "math.gcd"}
# Modules that Python has no more.
MODULES = {**_pairs(_PYTHON_2_MODULES), "imp": "importlib", "distutils": "setuptools"}
# Methods of Python 2's dict.
DICT_METHODS = {
    "iteritems": "items()",
    "itervalues": "values()",
    "iterkeys": "keys()",
    "has_key": "`in`",
}
