"""What the chapters on *Why are Sensitive Functions Hard for Transformers?* need."""
