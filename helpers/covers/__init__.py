"""Covering numbers and the capacity bounds that follow from them."""
