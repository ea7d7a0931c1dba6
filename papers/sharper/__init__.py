"""What the chapters on *A Sharper Picture of Generalization in Transformers* need."""
