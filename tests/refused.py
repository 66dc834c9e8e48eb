"""The one sentence with which a mistake is refused."""

import pytest

from theory.setting import SettingError


def refused(make, *given, **named):
    """The sentence: one, and of bearable length."""
    with pytest.raises(SettingError) as caught:
        make(*given, **named)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert "://" not in sentence
    assert len(sentence) < 400 + 2 * sum(len(str(one)) for one in given)
    return sentence
