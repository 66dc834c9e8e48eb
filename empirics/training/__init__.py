"""What trains: the samples, the models, the batched engine with its slow twin, and what is known of the problem."""
