"""What the chapters on *Inductive Biases and Variable Creation* need."""
