"""`acdpp explore`: open the planning page."""

import socket
from typing import Annotated

import typer

from acdpp import parse
from acdpp.output import console, needed_for
from theory.setting import SettingError

__all__ = ["EXAMPLES", "command"]

EXAMPLES = (
    "Examples: [bold]acdpp explore[/bold] · "
    "[bold]acdpp explore --port 8100 --no-open[/bold], then open the address that it prints"
)
HOST, PORT_MAX = "127.0.0.1", 65_535


def command(
    port: Annotated[str | None, typer.Option(help="Port of the page; by default a free one.")] = None,
    show: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in a browser.")] = True,
) -> None:
    wanted = 0 if port is None else parse.whole(port, "--port")
    if wanted > PORT_MAX:
        raise SettingError(f"--port must be at most {PORT_MAX:,}, such as 8100, got {wanted}")
    with socket.socket() as one:  # the port, if it is free; for 0, any free port
        try:
            one.bind((HOST, wanted))
        except OSError as error:
            raise SettingError(
                f"port {wanted} cannot be used ({error.strerror}): take another, or leave out --port"
            ) from None
        chosen = int(one.getsockname()[1])
    with needed_for("the page", "explore"):
        from acdpp.explore.page import serve

    console().print(f"http://{HOST}:{chosen}/ (for this machine only; Ctrl-C ends it)", soft_wrap=True)
    serve(chosen, show=show)
