"""Ctrl-C, at any moment: one line, exit status 130, no worker left behind.

`KeyboardInterrupt` in the middle of an import or of a solver's callback comes out as whatever that code makes of it,
and Z3 keeps the signal to itself. So it is blocked in every thread, and in every process started from here, and a
thread of its own waits for it and ends the program at once. Where something must be left in order (`allow_cleanup`)
that thread passes the signal on to the main thread, which raises `KeyboardInterrupt`; a second Ctrl-C ends that too.
"""

from __future__ import annotations

import _thread  # `threading` and `typing` would take a while, in which Ctrl-C is not taken care of yet
import os
import signal
import sys

__all__ = ["STATUS", "allow_cleanup", "asked", "finished", "last_words", "watch"]

STATUS = 130
_state = {"cleanup": False, "asked": False}
_words = ["interrupted"]
_leaving = _thread.allocate_lock()


def asked() -> bool:
    """Whether `KeyboardInterrupt` has been raised: every error from then on is its echo."""
    return _state["asked"]


def last_words(instead: str = "") -> str:
    """What the program will say at its end; with an argument, what it is to say instead."""
    if instead:
        _words[:] = [instead]
    return _words[0]


def watch() -> None:
    """Take over Ctrl-C; to be called in the main thread. Where the signal is ignored, it stays so."""
    if not hasattr(signal, "sigwait") or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    signal.signal(signal.SIGINT, _raise)
    _thread.start_new_thread(_wait, (_thread.get_ident(),))


def allow_cleanup() -> None:
    """From now on the first Ctrl-C raises `KeyboardInterrupt`; to be called in the main thread."""
    if signal.getsignal(signal.SIGINT) is _raise:
        _state["cleanup"] = True
        sys.unraisablehook = _swallowed
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def finished() -> None:
    """All is said: nothing is interrupted any more. Whoever is first, this or a Ctrl-C, decides how it ends."""
    if hasattr(signal, "sigwait"):
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        _leaving.acquire()


def _wait(main_thread: int) -> None:
    while True:
        signal.sigwait({signal.SIGINT})
        if not _state["cleanup"]:
            _leave()
        signal.pthread_kill(main_thread, signal.SIGINT)


def _raise(*_: object) -> None:
    if asked():
        _leave()
    _state["asked"] = True
    raise KeyboardInterrupt


def _swallowed(caught: object) -> None:
    if asked():  # raised where nothing can be raised: the program would go on
        _leave()
    sys.__unraisablehook__(caught)  # type: ignore[arg-type]


def _leave() -> None:
    """The line, and out: without unwinding, and without what other threads would have to say about it."""
    _leaving.acquire()
    sys.stdout = sys.stderr = None
    # on a terminal, in place of a progress bar, which also hides the cursor
    clean = "\r\x1b[2K\x1b[?25h" if os.isatty(2) and os.environ.get("TERM") != "dumb" else ""
    os.write(2, f"{clean}acdpp: interrupted\n".encode())
    if "multiprocessing" in sys.modules:
        from multiprocessing import active_children

        for child in active_children():
            child.kill()
    os._exit(STATUS)
