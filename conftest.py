"""Plugins of every pytest run here: the comparison of notebooks, and fixtures."""

pytest_plugins = ["helpers.book.tolerance", "tests.small_book", "tests.browser", "tests.order"]
