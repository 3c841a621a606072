# SPDX-License-Identifier: BSD-3-Clause
"""Errors in the arguments as sentences. Their text is Typer's, or that of the validator that it uses."""

import re

VALIDATED = re.compile(r"Invalid value for (?P<name>.+?): Input should be (?P<wanted>.+)")
WANTED = (
    ("greater than or equal to ", "at least "),
    ("less than or equal to ", "at most "),
    ("greater than ", "above "),
    ("less than ", "below "),
    ("a valid integer", "a whole number"),
    ("a valid number", "a number"),
)


def sentence_of(error: Exception, text: str) -> str:
    """The sentence for an error whose message is `text`."""
    words = " ".join(text.replace(": Value error, ", ": ").split()).rstrip(".")
    if found := VALIDATED.fullmatch(words):
        words = f"{found['name']} must be {wanted_in_words(found['wanted'])}{given_by(error)}"
    words = words.replace(" Did you mean ", " did you mean ").replace(". did", "; did")
    if words.endswith("?"):
        return words
    return f"{words}; see --help" if words else "the command line is incomplete; see --help"


def wanted_in_words(text: str) -> str:
    for theirs, ours in WANTED:
        if text.startswith(theirs):
            limit = text.removeprefix(theirs)
            return ours + ("" if limit.startswith(",") else limit)
    return text


def given_by(error: Exception) -> str:
    """The value that was refused, if the validator has it."""
    errors = getattr(error.__cause__, "errors", None)
    return f", not '{errors()[0].get('input', '')}'" if callable(errors) else ""
