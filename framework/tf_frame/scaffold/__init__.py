"""Writes the folder of a new plugin distribution from the templates in this package.

    write_plugin("my-model", "model", "/home/me")   # /home/me/my-model

The files in `templates/` make a plugin called `my-plugin` with the package `my_plugin` and the
class `MyPlugin`; rendering replaces the three names. `common/` is part of every distribution,
each other folder belongs to one kind.
"""
