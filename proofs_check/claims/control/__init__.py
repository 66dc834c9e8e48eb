"""Drift plus penalty: the queue, the comparison with constant admission, the T-slot lemma, both violations."""
