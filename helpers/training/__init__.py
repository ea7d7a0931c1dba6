"""Train many independent models at once."""
