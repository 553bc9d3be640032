"""Methods that look at the features alone."""
