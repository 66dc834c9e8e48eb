"""Plants errors in the theory, the claims and the rest of the code, and counts which of them something notices.

A check that cannot fail proves nothing, and nobody sees it from its verdict. So every formula is broken on purpose,
many times, and what could notice is run: the claims that execute the broken lines, then the tests that do.

General mutation testers (mutmut, cosmic-ray) run a test command for each mutant; here the first judge is a claim's
evidence, the errors are those that people make in formulas, and a link or a hypothesis of a claim is planted too.
"""
