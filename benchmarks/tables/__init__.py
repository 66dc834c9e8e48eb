"""Learners on tables, each row bought at most once: held-out log-loss and accuracy beside what others would use."""
