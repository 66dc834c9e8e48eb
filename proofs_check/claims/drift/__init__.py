"""A world that moves: what keeping, averaging and waiting cost when samples grow old; statements of our own."""
