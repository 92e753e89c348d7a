"""Plugins that a test writes as source, installed next to the plugins `toy`."""

from tf_frame.testing.distributions import write_distribution, write_toy_distribution


def install_source(monkeypatch, folder, name, source, **classes):
    """Installs a package with the classes of a source below a folder, and changes to the folder.

    Args:
      monkeypatch: takes the path and the folder back.
      folder: an empty folder.
      name: name of the package; its module is `NAME_plugins`.
      source: source of the module.
      **classes: end of an entry-point group -> names of classes; the name of a plugin is the name
        of its class in lower case. The version of the package is 3.2.

    Returns:
      The folder on the import path.
    """
    site = folder / "site"
    module = f"{name.replace('-', '_')}_plugins"
    targets = {
        f"tf_frame.{group}: {cls.lower()}": f"{module}:{cls}"
        for group, names in classes.items()
        for cls in names.split()
    }
    write_toy_distribution(site)
    write_distribution(site, name, targets, version="3.2")
    (site / f"{module}.py").write_text(source)
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.chdir(folder)
    return site
