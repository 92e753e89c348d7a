"""Functions of other packages that are gone, for `--with_old_packages`."""
