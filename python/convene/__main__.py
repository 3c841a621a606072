# SPDX-License-Identifier: BSD-3-Clause
"""Entry point: runs the command line; turns errors into a sentence and an exit status."""

import errno
import io
import os
import signal
import sys
from typing import Any, NoReturn

import typer

from convene._core import RequestError
from convene.base import console
from convene.cli import bash_words
from convene.cli.app import app
from convene.cli.usage_errors import sentence_of

# With it, Typer takes the shell of --show-completion from the command line.
NAMED_SHELL = "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION"


def run(arguments: list[str] | None = None) -> int:
    """Returns the exit status: 0 done, 1 something failed, 2 the request was wrong, 130 interrupted."""
    try:
        status = app(args=arguments, prog_name="convene", standalone_mode=False)
        sys.stdout.flush()
    except RequestError as error:
        console.complain(str(error))
        return 2
    except (TypeError, UnicodeEncodeError):
        if (found := not_utf8(sys.argv[1:] if arguments is None else arguments)) is None:
            raise
        console.complain(f"'{found}' is not UTF-8; write it in that encoding")
        return 2
    except SystemExit as error:
        if not isinstance(error.__context__, BrokenPipeError):
            raise
        discard_output()  # a library ends so where the reader has closed the pipe
        return 0
    except MemoryError:
        console.complain("not enough memory on this machine; try fewer processes, or smaller files")
        return 1
    except (KeyboardInterrupt, typer.Abort):
        return 130
    except BrokenPipeError:
        discard_output()  # the reader has closed the pipe
        return 0
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG and error.filename:
            console.complain(f"the file name '{str(error.filename)[:40]}…' is too long; shorten it")
            return 2
        if error.errno in (errno.ENOSPC, errno.EIO, errno.EBADF) and not error.filename:
            discard_output()
        where = error.filename or (error.errno == errno.EBADF and "standard output is closed")
        console.complain(": ".join(str(word) for word in (where, error.strerror or error) if word))
        return 1
    except Exception as error:
        # Errors in the arguments. Their class depends on the version of Typer, the method does not.
        sentence = getattr(error, "format_message", None)
        if sentence is None:
            raise
        found = not_utf8(sys.argv[1:] if arguments is None else arguments)
        said = (
            f"'{found}' is not UTF-8; write it in that encoding" if found else sentence_of(error, sentence())
        )
        console.complain(said)
        return 2
    return status if isinstance(status, int) else 0


def not_utf8(arguments: list[str]) -> str | None:
    """The first argument that is not UTF-8, with the bytes that are not as \\xff."""
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError:
            return argument.encode(errors="surrogateescape").decode(errors="backslashreplace")
    return None


def discard_output() -> None:
    """Avoids a second error when Python closes the stream."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def open_closed_streams() -> None:
    """Occupies the numbers of closed standard streams, so that no file gets one. Writing to stdout fails; to
    stderr, it has no effect."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY if number == 1 else os.O_WRONLY)  # the lowest number that is free
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w", closefd=False))


def end_orderly(number: int, _frame: Any) -> NoReturn:
    """Exits with an exception, so that temporary files are removed."""
    sys.exit(128 + number)


def main() -> NoReturn:
    open_closed_streams()
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # under nohup, SIGHUP is ignored
            signal.signal(number, end_orderly)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # τ and µ may not exist in the encoding
    if os.environ.get("_CONVENE_COMPLETE") == "complete_bash":
        sys.exit(bash_words.complete(run))
    if sys.argv[1:2] in (["--show-completion"], ["--install-completion"]) and len(sys.argv) > 2:
        os.environ[NAMED_SHELL] = "1"
    sys.exit(run())


if __name__ == "__main__":
    main()
