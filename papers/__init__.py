"""What the chapters on one paper need and no others: a package a paper, and one for *Beyond*."""
