"""The mathematics, kernels and tools behind the chapters of *A Sharper Picture, Executed*.

Imports run downwards only: claims, figures, run, results on top; then spectrum, constructions,
covers; then cube; then kernels, which know nothing above them. Importing this package imports
nothing; no module imports Jupyter at its top level, so that chapters run where it is not installed.
"""
