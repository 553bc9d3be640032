"""Methods that use only the features."""
