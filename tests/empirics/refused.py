"""What is refused is refused in one sentence of bearable length."""

from collections.abc import Callable
from typing import Any

import pytest

from theory.setting import SettingError


def refused(make: Callable[..., Any], *given: Any, **named: Any) -> str:
    """The sentence."""
    with pytest.raises(SettingError) as caught:
        make(*given, **named)
    sentence = str(caught.value)
    assert "\n" not in sentence
    assert "://" not in sentence
    assert len(sentence) < 400 + 2 * sum(len(str(one)) for one in given)
    return sentence


def survived_or_refused(make: Callable[..., Any], *given: Any, **named: Any) -> None:
    """Either it works, or it is refused in one sentence."""
    try:
        make(*given, **named)
    except SettingError as error:
        sentence = str(error)
    else:
        sentence = ""
    assert "\n" not in sentence
