"""What the chapters on sequence-length-free bounds need."""
