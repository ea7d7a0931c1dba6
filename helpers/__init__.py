"""Kernels, cube, networks, training, sharpness and covers: what every chapter may import.

Imports run downwards: ``checks`` imports nothing of the package, ``weights``, ``rng`` and
``statistics`` that, ``kernels`` these, ``cube`` those, then ``training`` and ``covers``, then
``nets`` and ``sharpness``, then ``probe``. What the chapters on one paper need stands in the
package ``papers``, what executes and renders a book in ``bookkit``; neither is imported here.
Importing this package imports nothing.
"""
