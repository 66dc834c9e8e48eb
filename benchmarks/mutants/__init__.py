"""Plants errors in the theory, the claims and the rest of the code, and counts which of them something notices.

Every formula is broken on purpose, many times, and what could notice is run: the claims that execute the broken
lines, then the tests that do. Unlike general mutation testers, the first judge is a claim's evidence, the errors are
those that people make in formulas, and links and hypotheses of claims are left out too.
"""
