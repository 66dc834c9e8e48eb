"""The server's account, against running totals where all clients are there, and sample by sample where they are not."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from empirics.control.policy import FOREVER
from empirics.federation.holdings import Account, Holdings
from tests.empirics.small import refused
from theory.reuse import effective_from_sums, mismatch_from_sums

LIMITS = st.tuples(st.integers(1, 4), st.sampled_from([4, 6, FOREVER]))  # K and B of a client
ROUNDS = st.lists(st.tuples(*[st.tuples(st.integers(0, 4), st.booleans())] * 2), min_size=1, max_size=9)


@settings(max_examples=60)
@given(ROUNDS, st.tuples(LIMITS, LIMITS))
def test_it_counts_sample_by_sample_whoever_is_away(rounds, limits):
    """Each client is granted some samples in every round, and is there or not."""
    holdings = Holdings.start(*np.array(limits).T)
    memories, uses = ([], []), []  # (round, number of the sample) of each client, and how often each was used
    for t, clients in enumerate(rounds, start=1):
        accounts = {}
        for m, ((granted, there), (K, B)) in enumerate(zip(clients, limits, strict=True)):
            if not there:
                continue
            memories[m].extend((t, len(uses) + i) for i in range(granted))
            uses += [0] * granted
            memories[m][:] = [one for one in memories[m] if one[0] > t - K][-B:]
            for _, i in memories[m]:
                uses[i] += 1
            accounts[m] = Account(granted, holdings.expected(m, granted))
            assert accounts[m].cohorts == Counter(entered for entered, _ in memories[m])
        found = holdings.book(accounts)
        trained = [i for m in accounts for _, i in memories[m]]
        assert (found.n[0, 0], found.N[0, 0]) == (len(trained), len(uses))
        if trained:
            sums = sum(uses), sum(u * u for u in uses)
            assert found.effective[0, 0] == pytest.approx(float(effective_from_sums(*sums)))
            chi = mismatch_from_sums(len(trained), *sums, sum(uses[i] for i in trained))
            assert found.mismatch[0, 0] == pytest.approx(float(chi), abs=1e-12)


@pytest.fixture
def begun():
    """One client with K = 3, after a round in which it was given two samples."""
    holdings = Holdings.start(np.array([3]), np.array([FOREVER]))
    holdings.book({0: Account(2, {1: 2})})
    return holdings


def test_what_cannot_be_true_is_refused(begun):
    for delivered, cohorts, words in (
        (4, {2: 4}, "client 0 says it admitted 4 samples and was granted 3"),
        (-1, {}, "client 0 says it admitted -1 samples"),
        (3, {1: 3, 2: 3}, "holds 3 samples of round 1, of which it can hold 2"),
        (3, {2: 4}, "holds 4 samples of round 2, of which it can hold 3"),
        (0, {2: 1}, "holds 1 samples of round 2, of which it can hold 0"),
        (3, {-5: 1}, "holds 1 samples of round -5, of which it can hold 0"),
        (3, {1: -1}, "holds -1 samples of round 1"),
    ):
        assert words in refused(begun.check, 0, 3, Account(delivered, cohorts))


def test_a_client_that_has_lost_samples_may_say_so(begun):
    less = Account(3, {1: 1, 2: 3})
    begun.check(0, 3, less)
    begun.book({0: less})
    assert begun.expected(0, 1) == {1: 1, 2: 3, 3: 1}
