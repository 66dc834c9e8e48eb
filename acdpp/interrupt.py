"""Ctrl-C, at any moment: one line, exit status 130, no worker left behind.

`KeyboardInterrupt` in the middle of an import or of a solver's callback comes out as whatever that code makes of it,
and Z3 keeps the signal to itself. So it is blocked in every thread, and in every process started from here, and a
thread of its own waits for it and ends the program at once. Where something must be left in order (`allow_cleanup`)
that thread passes the signal on to the main thread, which raises `KeyboardInterrupt`; a second Ctrl-C ends that too.
"""

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
    """True once `KeyboardInterrupt` has been raised; later errors are its consequences."""
    return _state["asked"]


def last_words(instead: str = "") -> str:
    """The line that the program prints when interrupted; with an argument, set it."""
    if instead:
        _words[:] = [instead]
    return _words[0]


def watch() -> None:
    """Take over Ctrl-C, from the main thread; an ignored signal stays ignored."""
    if not hasattr(signal, "sigwait") or signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    signal.signal(signal.SIGINT, _raise)
    _thread.start_new_thread(_wait, (_thread.get_ident(),))


def allow_cleanup() -> None:
    """Let the first Ctrl-C raise `KeyboardInterrupt` from now on; call from the main thread."""
    if signal.getsignal(signal.SIGINT) is _raise:
        _state["cleanup"] = True
        sys.unraisablehook = _swallowed
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def finished() -> None:
    """Ignore Ctrl-C from now on, unless it came first."""
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
    """Print the line and exit at once, without unwinding and without output of other threads."""
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
