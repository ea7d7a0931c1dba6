"""Plugins of every pytest run here: the comparison of notebooks, and fixtures."""

pytest_plugins = ["tests.nbval_tolerance", "tests.small_book", "tests.browser"]
