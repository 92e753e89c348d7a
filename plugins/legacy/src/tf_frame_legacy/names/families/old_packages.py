"""Names of other packages that old programs use, for `--with_old_packages`."""

from tf_frame_legacy.names.row import alias, reimplemented

_SHIMS = "tf_frame_legacy.program.old_packages"

# Modules that the table replaces as a whole, so that they need not be installed.
LOST_MODULES = {"cPickle", "StringIO", "cStringIO", "urllib2"}
OLD_PACKAGES = {
    *("numpy", "scipy", "PIL", "yaml", "sklearn", "networkx"),
    *("time", "collections", "inspect", "pickle", "itertools", "string", "urllib", "fractions"),
    *("random", "base64"),
    *LOST_MODULES,
}
_PYTHON_2 = (
    "Queue=queue ConfigParser=configparser urlparse=urllib.parse httplib=http.client "
    "Tkinter=tkinter commands=subprocess __builtin__=builtins copy_reg=copyreg "
    "HTMLParser=html.parser thread=_thread SocketServer=socketserver cookielib=http.cookiejar "
    "dummy_thread=_thread anydbm=dbm Image=PIL.Image"
)
# Modules of Python 2, and what Python 3 calls them.
PYTHON_2_MODULES = {old: new for old, _, new in (p.partition("=") for p in _PYTHON_2.split())}
# Modules that are gone as a whole, in contrast to modules that have lost names.
OLD_MODULES = {
    "scipy.misc",
    "scipy.misc.pilutil",
    "scipy.sparse.linalg.eigen",
    "scipy.sparse.linalg.eigen.arpack",
    "sklearn.cross_validation",
    "sklearn.externals.joblib",
    "sklearn.grid_search",
    *LOST_MODULES,
}

# Package -> the module that gives its classes and functions their old methods and arguments.
WITH_METHODS = {
    "PIL": "pictures",
    "cv2": "drawings",
    "easydict": "settings",
    "h5py": "stored",
    "librosa": "sounds",
    "matplotlib": "plots",
    "networkx": "networks",
    "pandas": "tables",
    "tensorflow": "dimensions",
}

# Names that the switch gives back to the packages themselves, with what stands for each today.
MEMBERS = {
    "librosa.feature.rmse": "librosa.feature.rms",
    "librosa.logamplitude": "librosa.power_to_db",
    "librosa.output.write_wav": "scipy.io.wavfile.write",
    "matplotlib.cm.get_cmap": "matplotlib.pyplot.get_cmap",
    "matplotlib.cm.register_cmap": "matplotlib.colormaps.register",
    "matplotlib.pyplot.hold": "nothing: plots always stay",
}

ROWS = [
    *alias(
        "numpy",
        "builtins",
        "bool bool8=bool int float complex object str unicode=str long=int",
    ),
    *alias(
        "numpy",
        "numpy",
        "float_=float64 complex_=complex128 cfloat=complex128 longfloat=longdouble "
        "singlecomplex=complex64 string_=bytes_ unicode_=str_ int0=intp uint0=uintp Inf=inf "
        "Infinity=inf infty=inf NaN=nan product=prod cumproduct=cumprod alltrue=all sometrue=any "
        "in1d=isin row_stack=vstack round_=round trapz=trapezoid NAN=nan mat=asmatrix rank=ndim "
        "longcomplex=clongdouble clongfloat=clongdouble issubsctype=issubdtype "
        "typeDict=sctypeDict",
    ),
    *alias("numpy", "builtins", "alen=len"),
    *alias("numpy.lib", "numpy", "pad"),
    *alias("numpy", "numpy.exceptions", "VisibleDeprecationWarning ComplexWarning RankWarning"),
    *reimplemented(
        "numpy",
        f"{_SHIMS}.arrays",
        "array asarray asfarray asscalar load msort reshape fromstring PINF NINF PZERO NZERO",
    ),
    *reimplemented(
        ("scipy.misc", "scipy.misc.pilutil"),
        f"{_SHIMS}.pictures",
        "imread imsave imresize imrotate toimage fromimage bytescale imshow",
    ),
    *alias(
        ("scipy.sparse.linalg.eigen.arpack", "scipy.sparse.linalg.eigen"),
        "scipy.sparse.linalg",
        "eigs eigsh svds ArpackError ArpackNoConvergence",
    ),
    *reimplemented("scipy.interpolate", f"{_SHIMS}.curves", "interp1d"),
    *alias("scipy.misc", "scipy.special", "logsumexp comb factorial"),
    *alias("PIL.Image", "PIL.Image.Resampling", "ANTIALIAS=LANCZOS LINEAR=BILINEAR CUBIC=BICUBIC"),
    *reimplemented("yaml", f"{_SHIMS}.small", "load load_all"),
    *alias("time", "time", "clock=perf_counter"),
    *reimplemented("pickle", f"{_SHIMS}.small", "dump load=load_pickle"),
    *reimplemented("inspect", f"{_SHIMS}.small", "getargspec"),
    *alias("cPickle", "pickle", "HIGHEST_PROTOCOL Pickler PicklingError Unpickler dumps loads"),
    *reimplemented("cPickle", f"{_SHIMS}.small", "dump load=load_pickle"),
    *reimplemented(("StringIO", "cStringIO"), f"{_SHIMS}.python_2", "StringIO"),
    *alias("urllib", "urllib.request", "pathname2url url2pathname urlcleanup urlopen urlretrieve"),
    *alias("urllib", "urllib.parse", "quote quote_plus unquote unquote_plus urlencode"),
    *alias(
        "urllib2",
        "urllib.request",
        "HTTPCookieProcessor HTTPHandler HTTPSHandler ProxyHandler Request build_opener "
        "install_opener urlopen",
    ),
    *alias("urllib2", "urllib.error", "HTTPError URLError"),
    *alias("urllib2", "urllib.parse", "quote unquote urlparse"),
    *alias("itertools", "builtins", "izip=zip imap=map ifilter=filter"),
    *alias("itertools", "itertools", "izip_longest=zip_longest ifilterfalse=filterfalse"),
    *alias(
        "string",
        "string",
        "letters=ascii_letters lowercase=ascii_lowercase uppercase=ascii_uppercase",
    ),
    *alias("string", "builtins.str", "lower maketrans replace split strip upper"),
    *reimplemented("string", f"{_SHIMS}.python_2", "join"),
    *alias("fractions", "math", "gcd"),
    *reimplemented("random", f"{_SHIMS}.small", "sample"),
    *alias("base64", "base64", "decodestring=decodebytes encodestring=encodebytes"),
    *alias(
        "collections",
        "collections.abc",
        "Awaitable Coroutine AsyncIterable AsyncIterator AsyncGenerator Hashable Iterable Iterator "
        "Generator Reversible Sized Container Callable Collection Set MutableSet Mapping "
        "MutableMapping MappingView KeysView ItemsView ValuesView Sequence MutableSequence "
        "ByteString",
    ),
    *alias(
        "sklearn.externals.joblib",
        "joblib",
        "Memory Parallel cpu_count delayed dump hash load",
    ),
    *alias(
        "sklearn.cross_validation",
        "sklearn.model_selection",
        "cross_val_predict cross_val_score train_test_split",
    ),
    *reimplemented(
        "sklearn.cross_validation", f"{_SHIMS}.learners", "KFold ShuffleSplit StratifiedKFold"
    ),
    *alias(
        "sklearn.grid_search",
        "sklearn.model_selection",
        "GridSearchCV ParameterGrid ParameterSampler RandomizedSearchCV",
    ),
    *reimplemented("sklearn.metrics", f"{_SHIMS}.learners", "make_scorer"),
    *alias("sklearn.metrics", "sklearn.metrics", "jaccard_similarity_score=jaccard_score"),
    *reimplemented("sklearn.preprocessing", f"{_SHIMS}.learners", "OneHotEncoder"),
    *reimplemented("sklearn.manifold", f"{_SHIMS}.learners", "TSNE"),
    *alias(
        "networkx",
        "networkx",
        "from_numpy_matrix=from_numpy_array to_numpy_matrix=to_numpy_array "
        "from_scipy_sparse_matrix=from_scipy_sparse_array "
        "to_scipy_sparse_matrix=to_scipy_sparse_array",
    ),
    *reimplemented("networkx", f"{_SHIMS}.networks", "connected_component_subgraphs"),
]
