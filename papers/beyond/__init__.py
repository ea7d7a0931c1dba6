"""What the chapters beyond the papers need."""
