"""Sites whose walls keep robots out, or say that they do."""
