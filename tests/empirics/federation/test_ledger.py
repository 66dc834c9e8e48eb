"""The server's account, against running totals where all clients are there, and sample by sample where they are not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from empirics.control.policy import FOREVER
from empirics.control.totals import Totals
from empirics.federation.ledger import Account, Ledger
from theory.reuse import effective_from_sums, mismatch_from_sums
from theory.setting import SettingError

ROUNDS = st.lists(st.lists(st.integers(0, 4), min_size=2, max_size=2), min_size=1, max_size=9)


def began(retention, capacity):
    limits = np.array([[K or FOREVER for K in retention], [B or FOREVER for B in capacity]])
    return Ledger.start(*limits), *limits


@given(
    ROUNDS, st.tuples(st.integers(1, 4), st.integers(1, 4)), st.tuples(*[st.sampled_from([None, 4, 6])] * 2)
)
@settings(deadline=None)
def test_with_all_clients_it_is_the_running_totals(grants, retention, capacity):
    ledger, kept, sizes = began(retention, capacity)
    totals = Totals.start(kept[np.newaxis], capacity=sizes[np.newaxis])
    for granted in grants:
        accounts = {m: Account(count, ledger.expected(m, count)) for m, count in enumerate(granted)}
        starts, ends, wanted = totals.extend(np.array(granted)[np.newaxis, np.newaxis])
        found = ledger.book(accounts)
        assert [account.trained_on for account in accounts.values()] == (ends - starts)[0, 0].tolist()
        if found.n[0, 0]:
            for name in ("n", "N", "uniformity", "mismatch"):
                assert getattr(found, name) == pytest.approx(getattr(wanted, name), rel=1e-12)


@given(ROUNDS, st.lists(st.tuples(st.booleans(), st.booleans()), min_size=9, max_size=9))
@settings(deadline=None)
def test_with_clients_away_it_counts_sample_by_sample(grants, away):
    K, M = 3, 2
    ledger, _, _ = began((K,) * M, (5, None))
    memories, uses = [[] for _ in range(M)], []  # (round, number of the sample), and how often each was used
    for t, granted in enumerate(grants, start=1):
        there = [m for m in range(M) if not away[t - 1][m]]
        for m in there:
            for _ in range(granted[m]):
                memories[m].append((t, len(uses)))
                uses.append(0)
            memories[m] = [one for one in memories[m] if one[0] > t - K][-(5 if m == 0 else 99) :]
            for _, i in memories[m]:
                uses[i] += 1
        accounts = {m: Account(granted[m], ledger.expected(m, granted[m])) for m in there}
        found = ledger.book(accounts)
        trained = [i for m in there for _, i in memories[m]]
        assert found.n[0, 0] == len(trained)
        assert found.N[0, 0] == len(uses)
        if trained:
            sums = sum(uses), sum(u * u for u in uses)
            assert found.effective[0, 0] == pytest.approx(float(effective_from_sums(*sums)))
            chi = mismatch_from_sums(len(trained), *sums, sum(uses[i] for i in trained))
            assert found.mismatch[0, 0] == pytest.approx(float(chi), abs=1e-12)


@pytest.mark.parametrize(
    ("account", "words"),
    [
        (Account(4, {2: 4}), "client 0 says it admitted 4 samples and was granted 3"),
        (Account(-1, {}), "client 0 says it admitted -1 samples"),
        (Account(3, {1: 3, 2: 3}), "holds 3 samples of round 1, of which it can hold 2"),
        (Account(3, {2: 4}), "holds 4 samples of round 2, of which it can hold 3"),
        (Account(0, {2: 1}), "holds 1 samples of round 2, of which it can hold 0"),
        (Account(3, {-5: 1}), "holds 1 samples of round -5, of which it can hold 0"),
        (Account(3, {1: -1}), "holds -1 samples of round 1"),
    ],
)
def test_what_cannot_be_true_is_refused(account, words):
    ledger, _, _ = began((3,), (None,))
    ledger.book({0: Account(2, {1: 2})})
    with pytest.raises(SettingError, match=words):
        ledger.check(0, 3, account)


def test_a_client_that_has_lost_samples_may_say_so():
    ledger, _, _ = began((3,), (None,))
    ledger.book({0: Account(2, {1: 2})})
    less = Account(3, {1: 1, 2: 3})
    ledger.check(0, 3, less)
    ledger.book({0: less})
    assert ledger.expected(0, 1) == {1: 1, 2: 3, 3: 1}
