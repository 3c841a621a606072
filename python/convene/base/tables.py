# SPDX-License-Identifier: BSD-3-Clause
"""Tables that fit the console. Heads and texts fold at words, optional columns are left out, and columns that
do not fit beside the others continue below them. Numbers are never cut, and words only in columns that allow
it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.style import StyleType
from rich.table import Column, Table
from rich.text import Text

GAP = 2  # columns of the console between two of the table
MOST_LINES = 2  # of a folded text, before columns are left out
PROSE = 28  # a text may fold into more lines if they have this width
SHORTENED = 24  # columns of the console for a word whose middle may be left out

# Where a text may be folded: at a space, but not before a unit or after an ellipsis; within a word after ;
# and the / of a path, and after a comma that is no part of a number.
SPACE = re.compile(r"(?<!…)[ \t\n]+(?!(?:ns|µs|ms|s|%|B|[KMGT]iB|[KMG]?bit/s)(?:\W|$))")
BREAK = re.compile(SPACE.pattern + r"|(?<=;)(?=[^\s;])|(?<=/)(?=[^\s/]{2})|(?<=,)(?=[^\s\d])")
NOT_AFTER_COMMA = re.compile(r"(?<!,) ")  # the spaces of "0 to 4, 2 to 4" that stay


def fold(text: Text, width: int, breaks: re.Pattern[str] = BREAK) -> list[Text]:
    """The lines of a text, as long as the width allows; a longer word has a line of its own."""
    plain = text.plain
    cuts, begin, end = [], 0, 0
    for place in [*(found.end() for found in breaks.finditer(plain)), len(plain)]:
        if end > begin and cell_len(plain[begin:place].rstrip()) > width:
            cuts.append(end)
            begin = end
        end = place
    lines = list(text.divide(cuts))
    for line in lines:
        line.rstrip()
    return lines


def shortened(text: Text) -> Text:
    """A text whose long words have an ellipsis in the middle; they keep more of their ends."""
    begin, end = SHORTENED // 3, SHORTENED - SHORTENED // 3 - 1

    def shorten(word: re.Match[str]) -> str:
        return f"{word[0][:begin]}…{word[0][-end:]}"

    return Text(re.sub(rf"\S{{{SHORTENED + 1},}}", shorten, text.plain), style=text.style)


def longest_word(texts: Iterable[Text]) -> int:
    return max((line.cell_len for text in texts for line in fold(text, 1)), default=0)


@dataclass(frozen=True)
class Measured:
    """A column, with the widths that it can have."""

    name: str
    head: Text
    cells: list[Text]
    is_number: bool
    is_whole: bool = False  # its cells are never folded

    @property
    def widest_cell(self) -> int:
        return max((cell.cell_len for cell in self.cells), default=0)

    @property
    def natural(self) -> int:
        return max(self.head.cell_len, self.widest_cell)

    @property
    def least(self) -> int:
        cells = self.widest_cell if self.is_number or self.is_whole else longest_word(self.cells)
        return max(1, longest_word([self.head]), cells)

    @property
    def short_head(self) -> int:
        """The least width with few lines of the head."""
        width = self.least
        while len(fold(self.head, width)) > MOST_LINES:
            width += 1
        return width

    @property
    def comfortable(self) -> int:
        """The least width with few lines a cell."""
        width = self.least
        while width < min(self.widest_cell, PROSE) and any(
            len(fold(cell, width)) > MOST_LINES for cell in self.cells
        ):
            width += 1
        return width

    def lines(self, cell: Text, width: int) -> list[Text]:
        lines = fold(cell, width)
        for line in lines:
            spaces = max(0, width - line.cell_len)
            if self.is_number:
                line.pad_left(spaces)
            else:
                line.pad_right(spaces)
        return lines


def total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)


def spread(columns: Sequence[Measured], widths: list[int], width: int) -> list[int]:
    """Widens columns to their cells, then to heads of few lines, then of one, those that need least first."""
    widths = list(widths)
    for wanted in (
        [each.widest_cell for each in columns],
        [each.short_head for each in columns],
        [each.natural for each in columns],
    ):
        for i in sorted(range(len(columns)), key=lambda place: wanted[place] - widths[place]):
            widths[i] += max(0, min(wanted[i] - widths[i], width - total(widths)))
    return widths


def blocks(columns: Sequence[Measured], keys: int, width: int) -> list[list[Measured]]:
    """Columns side by side as far as they fit, the first `keys` ones in every block."""
    first, others = list(columns[:keys]), columns[keys:]
    found = [list(first)]
    for each in others:
        if len(found[-1]) > keys and total([one.least for one in [*found[-1], each]]) > width:
            found.append(list(first))
        found[-1].append(each)
    return found


def lines_of(columns: Sequence[Measured], width: int, *, show_header: bool = True) -> Iterable[Text]:
    """Rows, each in as many lines as its cells need."""
    widths = [each.comfortable for each in columns]
    if total(widths) > width:
        widths = [each.least for each in columns]
    widths = spread(columns, widths, width)
    rows = zip(*(each.cells for each in columns), strict=True)
    for row in [*([[each.head for each in columns]] if show_header else []), *rows]:
        folded = [each.lines(cell, at) for each, cell, at in zip(columns, row, widths, strict=True)]
        for i in range(max(map(len, folded))):
            parts = [
                cell[i] if i < len(cell) else Text(" " * at) for cell, at in zip(folded, widths, strict=True)
            ]
            line = Text(" " * GAP).join(parts)
            line.rstrip()
            yield line


def refolded(text: str, width: int) -> str:
    """Folds lines that are too long. Paragraphs may have a title and a table of plain columns below it."""
    paragraphs = text.rstrip("\n").split("\n\n")
    return "\n\n".join(refolded_paragraph(each.split("\n"), width) for each in paragraphs) + "\n"


def refolded_paragraph(lines: list[str], width: int) -> str:
    if max(map(cell_len, lines)) <= width:
        return "\n".join(lines)
    if len(lines) < 2 or not lines[1].startswith("  "):
        return "\n".join(part.plain for line in lines for part in fold(Text(line), width))
    starts = [found.start() for found in re.finditer(r"\S+", lines[1])]
    columns = []
    for begin, end in zip(starts, [*starts[1:], None], strict=True):
        head, *cells = (Text(NOT_AFTER_COMMA.sub("\xa0", line[begin:end].strip())) for line in lines[1:])
        columns.append(Measured(head.plain, head, cells, is_number=begin == starts[0]))
    rest = (f"  {line.plain}".replace("\xa0", " ") for line in lines_of(columns, width - 2))
    return "\n".join([lines[0], *rest])


class FittingTable(Table):
    """A table of rich's without lines. On a narrow console words of the columns `shortens` are shortened
    first; `optional` are the heads of columns it does without, the least important first."""

    def __init__(
        self, title: str, optional: Sequence[str], keys: int, whole: Sequence[str], shortens: Sequence[str]
    ) -> None:
        super().__init__(title=title, box=None)
        self.optional, self.keys, self.whole, self.shortens = optional, keys, whole, shortens

    def measured(self, console: Console, options: ConsoleOptions) -> list[Measured]:
        def text(value: object, style: StyleType = "") -> Text:
            found = (
                value if isinstance(value, Text) else console.render_str(str(value), markup=options.markup)
            )
            found = found.copy()
            if style:
                found.stylize_before(style)
            return found

        def cells(column: Column) -> list[Text]:
            return [text(cell, row.style or "") for cell, row in zip(column._cells, self.rows, strict=True)]

        return [
            Measured(
                str(each.header),
                text(each.header, "bold"),
                cells(each),
                each.justify == "right",
                each.header in self.whole,
            )
            for each in self.columns
        ]

    def without_optional(self, columns: list[Measured], width: int) -> tuple[list[Measured], list[str]]:
        """Leaves out columns until the others fit well; says which."""
        absent: list[str] = []
        for name in self.optional:
            if total([each.comfortable for each in columns]) <= width:
                break
            if any(each.name == name for each in columns):
                columns = [each for each in columns if each.name != name]
                absent.append(name)
        return columns, absent

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        columns = self.measured(console, options)
        if total([each.comfortable for each in columns]) > width:
            columns = [
                replace(each, cells=list(map(shortened, each.cells))) if each.name in self.shortens else each
                for each in columns
            ]
        kept, absent = self.without_optional(columns, width)
        if self.title:
            yield from fold(Text(str(self.title), style="bold"), width)
        for place, block in enumerate(blocks(kept, self.keys, width)):
            if place:
                yield Text("")
            yield from lines_of(block, width, show_header=self.show_header)
        if self.caption:
            yield from fold(Text(str(self.caption), style="dim italic"), width)
        if absent:
            yield from fold(Text(f"left out at this width: {', '.join(absent)}", style="dim italic"), width)
