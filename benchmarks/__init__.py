"""Measurements of the kernels beside their peers: one file a kernel, one record a file."""
