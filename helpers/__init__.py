"""Kernels, cube, networks, training, sharpness and covers: what every chapter may import.

Imports run downwards: ``checks``, ``weights``, ``draws`` and ``statistics`` import nothing of the
package, ``kernels`` these, ``cube`` those, then ``training`` and ``covers``, then ``nets`` and
``sharpness``. What the chapters on one paper need stands in the package ``papers``, what executes
and renders a book in ``bookkit``; neither is imported here. Importing this package imports nothing.
"""
