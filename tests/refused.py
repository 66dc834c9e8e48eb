"""Refusal of a mistake in one sentence."""

import pytest

from theory.setting import SettingError


def refused(make, *given, **named):
    """Return the sentence, which is one line of bounded length."""
    with pytest.raises(SettingError) as caught:
        make(*given, **named)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert "://" not in sentence
    assert len(sentence) < 400 + 2 * sum(len(str(value)) for value in given)
    return sentence
