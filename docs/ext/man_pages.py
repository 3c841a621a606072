# SPDX-License-Identifier: BSD-3-Clause
"""Manual pages: one of each command, from its parser; libconvene(7), from the page on the environment.

`python docs/ext/man_pages.py DIRECTORY` writes man1/ and man7/ there. The build runs it.
"""

import argparse
import importlib.util
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = ROOT / "docs" / "reference" / "environment.md"
STATUS = (
    "0 done, 1 something ran and failed, 2 the request was wrong, 130 interrupted. convene run ends with the "
    "status of the program."
)
ESCAPED = {"\\": "\\e", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti"}


def escape(text: str, code: bool = False) -> str:
    """Text for groff. The hyphens of options, and all of code, are those that can be searched and copied."""
    text = "".join(ESCAPED.get(c, c if c.isascii() else f"\\[u{ord(c):04X}]") for c in text)
    if code:
        return text.replace("-", "\\-")
    return re.sub(r"(?<![\w-])--?[a-z][\w-]*", lambda found: found[0].replace("-", "\\-"), text)


def bold(text: str) -> str:
    return f"\\fB{escape(text, code=True)}\\fR"


def italic(text: str) -> str:
    return f"\\fI{escape(text, code=True)}\\fR"


def block(lines: Iterable[str]) -> list[str]:
    """Commands, or output, as they are."""
    return [".PP", ".RS 4", ".EX", *(f"\\&{escape(line, code=True)}" for line in lines), ".EE", ".RE"]


def line(text: str) -> str:
    """A line that groff does not take for a request."""
    return f"\\&{text}" if text.startswith((".", "\\(aq")) else text


def head(name: str, section: int, version: str, summary: str) -> list[str]:
    title = f'.TH {escape(name.upper(), code=True)} {section} "" "Convene {version}" "Convene"'
    return [title, ".nh", ".ad l", ".SH NAME", f"{escape(name, code=True)} \\- {escape(summary)}"]


def prose(text: str) -> list[str]:
    """Help: paragraphs, headings in bold, indented commands."""
    page: list[str] = []
    commands: list[str] = []
    for each in [*text.strip().splitlines(), "."]:
        if each.startswith("  "):
            commands.append(each.strip())
        elif each.strip():
            page += block(commands) if commands else []
            commands = []
            if heading := re.fullmatch(r"\[bold\](.*?)\[/bold\]", each.strip()):
                page.append(f".SH {escape(heading[1].upper())}")
            elif each != ".":
                page += [".PP", line(escape(re.sub(r"\[/?\w+\]", "", each.strip())))]
    return page


def takes(parameter: Any) -> str:
    is_flag = getattr(parameter, "is_flag", False)
    return (parameter.metavar or ("" if is_flag else "VALUE")).replace("\n", "")


def entry(names: str, meaning: str) -> list[str]:
    return [".TP", names, line(escape(" ".join(meaning.split())))]


def option(parameter: Any) -> list[str]:
    names = ", ".join(bold(name) for name in [*parameter.opts, *parameter.secondary_opts])
    value = takes(parameter)
    return entry(f"{names} {italic(value)}" if value else names, parameter.help or "")


def options(parameters: list[Any]) -> list[str]:
    """The options under the headings of --help."""
    panels: dict[str, list[Any]] = {}
    for parameter in parameters:
        panels.setdefault(parameter.rich_help_panel or "Options", []).append(parameter)
    page = [".SH OPTIONS"]
    for title, members in panels.items():
        page += [f".SS {escape(title)}"] if len(panels) > 1 else []
        page += [text for member in members for text in option(member)]
    return [*page, *entry(f"{bold('-h')}, {bold('--help')}", "Show the help and exit.")]


def page_name(words: tuple[str, ...]) -> str:
    return "-".join(("convene", *words))


def command_page(words: tuple[str, ...], command: Any, version: str) -> str:
    """The page of a command, or of a group of commands."""
    described, _, examples = (command.help or "").partition("[bold]Examples[/bold]")
    summary = re.split(r"[.:](?:\s|$)", described.strip())[0]
    members = getattr(command, "commands", {})
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    named = [each for each in command.params if each.param_type_name == "option"]
    synopsis = [bold(" ".join(("convene", *words))), "[" + italic("OPTIONS") + "]"]
    synopsis += [italic(each.metavar or each.name.upper()) for each in arguments]
    synopsis += [f"{italic('COMMAND')} [{italic('ARGUMENTS')}]"] if members else []
    page = head(page_name(words), 1, version, summary)
    page += [".SH SYNOPSIS", " ".join(synopsis), ".SH DESCRIPTION", *prose(described)]
    if arguments:
        page += [".SH ARGUMENTS"]
        page += [text for each in arguments for text in entry(italic(takes(each)), each.help or "")]
    if members:
        page += [".SH COMMANDS"]
        for name, member in members.items():
            first = re.split(r"[.:](?:\s|$)", (member.help or "").strip())[0]
            page += entry(f"\\fB{escape(page_name((*words, name)), code=True)}\\fR(1)", f"{first}.")
    page += options(named)
    examples = examples or command.epilog.partition("[/bold]")[2].partition("Exit status")[0]
    page += prose(f"[bold]Examples[/bold]\n{examples}")
    page += [".SH EXIT STATUS", escape(STATUS), ".SH SEE ALSO"]
    others = [words[:-1]] if words else []
    page.append(", ".join([*(f"{bold(page_name(each))}(1)" for each in others), "\\fBlibconvene\\fR(7)"]))
    return "\n".join(page) + "\n"


def inline(text: str) -> str:
    """Markdown of the page on environment variables, for groff."""
    text = re.sub(r"\{doc\}`(?:\.\./)?([\w/-]+)`", "`*\\1*`", text)
    text = re.sub(r"\{term\}`([^<`]*?)(?: <[^>]*>)?`", "\\1", text)
    parts = re.split(r"`([^`]*)`", text)
    return "".join(
        escape(part) if number % 2 == 0 else (italic(part[1:-1]) if part.startswith("*") else bold(part))
        for number, part in enumerate(parts)
    )


def environment_page(version: str) -> str:
    """libconvene(7): the variables that the libraries read."""
    page = head("libconvene", 7, version, "environment variables of Convene's libraries for MPI programs")
    page.append(".SH DESCRIPTION")
    table = False
    fenced: list[str] | None = None
    for each in ENVIRONMENT.read_text(encoding="utf-8").splitlines()[1:]:
        if each.startswith("```"):
            page += block(fenced) if fenced is not None else []
            fenced = [] if fenced is None else None
        elif fenced is not None:
            fenced.append(each)
        elif cells := re.fullmatch(r"\| (`.*?) \| (.*) \|", each):
            page += [] if table else [".SH ENVIRONMENT"]
            table = True
            page += [".TP", inline(cells[1]), line(inline(cells[2]))]
        elif each.startswith("|"):
            continue
        elif each:
            page += [".SH PROGRAMS WITHOUT CONVENE RUN"] if table else []
            table = False
            page.append(line(inline(each)))
        elif page[-1] != ".PP" and not table and not page[-1].startswith(".SH"):
            page.append(".PP")
    page += [
        ".SH NOTES",
        f"{italic('guide/NAME')} and {italic('formats')} are pages of Convene\\(aqs documentation.",
    ]
    page += [".SH SEE ALSO", "\\fBconvene\\fR(1), \\fBconvene\\-run\\fR(1)"]
    return "\n".join(page) + "\n"


def load_core(module: Path) -> None:
    """Makes a compiled module elsewhere the one of the package."""
    spec = importlib.util.spec_from_file_location("convene._core", module)
    if spec is None or spec.loader is None:
        sys.exit(f"man_pages.py: {module} is not a Python module; give --core the file of _core")
    sys.modules["convene._core"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules["convene._core"])


def command_pages() -> dict[str, str]:
    """The pages of all commands by file, and the one on the environment."""
    import command_line_page
    import typer
    from convene import __version__
    from convene.cli.app import app

    group = typer.main.get_command(app)
    commands: list[tuple[tuple[str, ...], Any]] = [((), group)]
    commands += [(tuple(name.split()), command) for name, command in command_line_page.commands_of(group)]
    pages = {
        f"man1/{page_name(words)}.1": command_page(words, command, __version__) for words, command in commands
    }
    return pages | library_pages(__version__)


def library_pages(version: str) -> dict[str, str]:
    return {"man7/libconvene.7": environment_page(version)}


def main() -> None:
    parser = argparse.ArgumentParser(prog="man_pages.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--core", type=Path, help="compiled module of the package, if not beside it")
    parser.add_argument("--libraries", metavar="VERSION", help="pages of the libraries of this version only")
    parser.add_argument("directory", type=Path)
    given = parser.parse_args()
    sys.path.insert(0, str(ROOT / "python"))
    if given.core:
        load_core(given.core)
    for name, text in (library_pages(given.libraries) if given.libraries else command_pages()).items():
        path = given.directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="ascii")


if __name__ == "__main__":
    main()
