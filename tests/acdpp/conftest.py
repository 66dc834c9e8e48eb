"""A home folder, and a browser for the tests of pages, where the system has Chromium and Playwright."""

import pytest

from tests.acdpp.pages import CHROMIUM, chromium


@pytest.fixture(scope="module")
def browser():
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    pytest.importorskip("playwright.sync_api")
    with chromium() as started:
        yield started


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path
