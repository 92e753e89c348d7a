"""Code that commands share: parsing, loading of plugins, terminal output, help, plugin versions."""
