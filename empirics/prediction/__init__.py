"""What will be learned before anything is trained: the law of reuse on a study's own problem."""
