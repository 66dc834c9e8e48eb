"""Threads behind the page: one answers the question, one trains a study."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock, Thread
from typing import Any

from acdpp.explore.form import Asked
from acdpp.explore.planner import Answer, Planner, Refused, Stopped
from acdpp.watch import Curves
from empirics.run import run_study
from theory.setting import SettingError

__all__ = ["Asking", "Training"]


class Asking:
    """Answers one question at a time; a new question stops the last. `news` counts the changes."""

    def __init__(self, planner: Planner) -> None:
        self.planner = planner
        self.answer: Answer | None = None
        self.refused: tuple[str, str] | None = None  # field and sentence
        self.doing = ""
        self.news = 0
        self._number, self._answered = 0, 0
        self._guard = Lock()
        self._one = ThreadPoolExecutor(max_workers=1, thread_name_prefix="asking")

    @property
    def current(self) -> Answer | None:
        """The answer to the last question, if any yet."""
        return self.answer if self._answered == self._number else None

    def ask(self, asked: Asked, *, search: bool = True) -> None:
        """Answer this question instead of the last."""
        with self._guard:
            self._number += 1
            self._one.submit(self._work, asked, self._number, search)

    def stop(self) -> None:
        """Stop answering until the next question."""
        with self._guard:
            self._number += 1

    def _work(self, asked: Asked, number: int, search: bool) -> None:
        def stale() -> bool:
            return number != self._number

        def tell(doing: str, done: int, of: int | None) -> None:
            self.doing = f"{doing}, {done:,}" + (f" of {of:,}" if of else "")

        if stale():
            return
        try:
            for answer in self.planner.answers(asked, search=search, stop=stale, tell=tell):
                self._say(number, answer, None)
        except Stopped:
            return
        except Refused as error:
            self._say(number, None, (error.field, str(error)))
        except (ArithmeticError, MemoryError) as error:
            reason = str(error) or type(error).__name__
            self._say(number, None, ("data", f"this is beyond what can be computed here ({reason})"))
        except Exception as error:  # the page must not wait for ever
            self._say(number, None, ("data", f"this cannot be answered ({type(error).__name__}: {error})"))
        self.doing = ""

    def _say(self, number: int, answer: Answer | None, refused: tuple[str, str] | None) -> None:
        with self._guard:
            if number == self._number:
                self.answer, self.refused = answer or self.answer, refused
                self._answered = number if answer is not None else self._answered
                self.news += 1


class Training:
    """A study that trains in its own thread, with its progress and measurements so far."""

    def __init__(self, asked: Asked, out: Path | None = None, planner: Planner | None = None) -> None:
        self.study, self._asked, self._planner = asked.study, asked, planner or Planner()
        self.curves = Curves(asked.study.rounds)
        self.done, self.news = 0, 0
        self.folder: Path | None = None
        self.summary: dict[str, Any] | None = None
        self.refused = ""
        self._out, self._stopped = out, False
        self._thread = Thread(target=self._work, name="training", daemon=True)
        self._thread.start()

    @property
    def running(self) -> bool:
        return self._thread.is_alive()

    @property
    def said(self) -> str:
        """The progress and the folder of the result, or the error."""
        now = self.curves.sentence()
        return self.refused or (now if self.folder is None else f"{now}; result: {self.folder}")

    def stop(self) -> None:
        """Stop after this round; the saved rounds can be continued."""
        self._stopped = True

    def wait(self, seconds: float | None = None) -> None:
        self._thread.join(seconds)

    def _work(self) -> None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.study = self._planner.suited(self._asked)[0].study
                self.summary = run_study(
                    self.study, self._out, progress=self._tell, announce=self._begun, see=self._see
                )
        except Stopped:
            pass
        except (SettingError, ArithmeticError, MemoryError, OSError) as error:
            self.refused = str(error) or type(error).__name__
        except Exception as error:  # the page must not wait for ever
            self.refused = f"the training failed ({type(error).__name__}: {error})"
        self.news += 1

    def _begun(self, folder: Path) -> None:
        self.folder = folder

    def _tell(self, done: int) -> None:
        if self._stopped:
            raise Stopped
        self.done = done
        self.news += 1

    def _see(self, rows: Any) -> None:
        self.curves.add(rows)
        self.news += 1
