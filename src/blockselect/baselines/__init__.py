"""Other methods from the literature with the same interface, guided by the features or by the network."""
