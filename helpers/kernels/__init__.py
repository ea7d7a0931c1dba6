"""Kernels on tables indexed by the cube; each module holds its public function, then its reference.

Index convention, used by the whole package: bit k of index i is 1 iff x_{k+1} = -1.
"""
