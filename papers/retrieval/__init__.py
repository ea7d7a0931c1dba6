"""What the chapters on sparse token regression need."""
