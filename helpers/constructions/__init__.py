"""Transformers whose weights are written by hand."""
