"""The learned models: pure functions of their weights."""
