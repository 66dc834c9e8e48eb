"""`acdpp` without a process, which takes longer to start than to answer; that a process says the same is tested too."""

import json
import os
import subprocess
import sys
import tomllib
from contextlib import redirect_stderr, redirect_stdout
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from acdpp.main import main

# status, output, errors and loaded modules of commands, one after the other or each in a fork
SEVERAL = """
import contextlib, io, json, os, shlex, sys
from acdpp.main import main

apart, *commands = sys.argv[1:]
for words in commands:
    if apart and (child := os.fork()):
        os.waitpid(child, 0)
        continue
    sys.argv = ["acdpp", *shlex.split(words)]
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            main()
        except SystemExit as left:
            status = left.code
    print(json.dumps([status, out.getvalue(), err.getvalue(), list(sys.modules)]), flush=True)
    if apart:
        os._exit(0)
"""


def acdpp(*words: str, encoding: str = "utf-8", soon: float = 600.0) -> subprocess.CompletedProcess[str]:
    """Status and output of a command line, on streams of an encoding; `soon` seconds until progress is printed."""
    streams = [TextIOWrapper(BytesIO(), encoding=encoding) for _ in range(2)]
    with (
        mock.patch("sys.argv", ["acdpp", *words]),
        mock.patch("acdpp.output.FIRST_PROGRESS_SECONDS", soon),
        redirect_stdout(streams[0]),
        redirect_stderr(streams[1]),
        pytest.raises(SystemExit) as left,
    ):
        main()
    for stream in streams:
        stream.flush()
        stream.seek(0)
    assert isinstance(left.value.code, int)
    return subprocess.CompletedProcess(words, left.value.code, *(stream.read() for stream in streams))


def answer(*words: str) -> Any:
    """Its JSON, with nothing said beside it."""
    done = acdpp(*words, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def said(*words: object, code: int = 0) -> str:
    """The output of a command that ends with this status."""
    done = acdpp(*map(str, words))
    assert done.returncode == code, done.stderr
    return done.stdout


def settings(command: str, *words: str) -> dict[str, Any]:
    """The settings that a command shows instead of running."""
    return tomllib.loads(said(command, *words, "--show-config"))


def refusal(*words: object) -> str:
    """The one line of a refusal."""
    done = acdpp(*map(str, words))
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    [line] = done.stderr.splitlines()
    assert line.startswith("acdpp: ")
    assert len(line) < 400 + 2 * sum(len(str(word)) for word in words)
    return line


def process(*words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """The program itself."""
    command = [sys.executable, "-m", "acdpp", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)


def finish(*command: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """What a command gave, which must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def several(*commands: str, before: str = "", apart: bool = False, **options: Any) -> list[list[Any]]:
    """What `SEVERAL` tells of these commands, in a process that first runs the code `before`."""
    command = [sys.executable, "-c", before + SEVERAL, "apart" * apart, *commands]
    here = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    return [json.loads(line) for line in finish(*command, env=here, **options).stdout.splitlines()]
