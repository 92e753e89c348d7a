"""Names of other packages that old programs use, for `--with_old_packages`."""

from tf_frame_legacy.names.row import alias, reimplemented

_SHIMS = "tf_frame_legacy.program.old_packages"

OLD_PACKAGES = {"numpy", "scipy", "PIL", "yaml", "time", "collections", "inspect", "pickle"}
# Modules that are gone as a whole, in contrast to modules that have lost names.
OLD_MODULES = {
    "scipy.misc",
    "scipy.misc.pilutil",
    "scipy.sparse.linalg.eigen",
    "scipy.sparse.linalg.eigen.arpack",
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
    *alias(
        "collections",
        "collections.abc",
        "Awaitable Coroutine AsyncIterable AsyncIterator AsyncGenerator Hashable Iterable Iterator "
        "Generator Reversible Sized Container Callable Collection Set MutableSet Mapping "
        "MutableMapping MappingView KeysView ItemsView ValuesView Sequence MutableSequence "
        "ByteString",
    ),
]
