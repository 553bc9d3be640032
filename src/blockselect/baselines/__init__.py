"""The other methods of the field, under the same interface: guided by the features, or by the network."""
