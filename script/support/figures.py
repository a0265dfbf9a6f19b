"""Compares the figures of the README, the features and the guides with the tables of Docs/benchmarks.

Docs/benchmarks/figures.json lists the sentences and tables that contain measured figures, each with the cells that the
figures come from. A sentence is written with {} in the place of each figure. A cell is named by its page, the first
cells of its row and its column:

    scheduler.md | independent, ns each | 1,000,000 | Foundation | median

If several tables of a page have such a row, the page is followed by # and the beginning of the paragraph above the
table. [2] after the column means the second number of the cell. Instead of a cell, there can be a number or a
calculation: {"ratio": [A, B]}, {"difference": [A, B]}, {"product": [A, B]}, {"min": [A, …]} or {"max": [A, …]}.

A figure is right if it is its source, rounded to the digits that are shown. All other numbers with a unit of a
measurement are faults, unless a sentence of the list has the reason why it isn't measured.
"""

import json
import math
import re

LIST = "Docs/benchmarks/figures.json"
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
# Units that only measurements have, in any document.
MEASURED = re.compile(
    r"\d[\d,.]* ?(?:ns|µs|nanoseconds|microseconds|MB/s|GB/s|ns/\w+)(?!\w)"
    r"|[\d,.]+ (?:\w+ )?(?:jobs|rows|operations|syncs) per second"
    r"|[\d,.]+ times as (?:fast|long|much)|a (?:half|third|quarter|fifth|tenth|twentieth) of the time"
    r"|factor is [\d,.]+|[\d,.]+ ?× (?:as|faster)")
# In overviews, times are results. In guides, they are settings and defaults.
TIMES = re.compile(r"(?<![\w(.])\d[\d,.]* (?:ms|s)\b(?! each, s)")
OVERVIEWS = {"README.md", "Docs/features.md"}
CALCULATIONS = {
    "ratio": lambda a, b: a / b, "difference": lambda a, b: a - b, "product": lambda *all: math.prod(all),
    "min": lambda *all: min(all), "max": lambda *all: max(all)}


class Fault(Exception):
    """A reference that leads to no cell, or to several."""


def cells(line):
    return [re.sub(r"[*`]", "", cell).strip() for cell in line.strip().strip("|").split("|")]


def tables(text):
    """Yields each table: the paragraph above it, its columns and its rows.

    An empty first cell repeats the one above, and so does the phrase *the same* before a colon.
    """
    lines = text.splitlines()
    at = 0
    while at < len(lines) - 1:
        if not (lines[at].startswith("|") and re.fullmatch(r"[|\s:-]+", lines[at + 1])):
            at += 1
            continue
        above = at - 1
        while above > 0 and not lines[above].strip():
            above -= 1
        first = above
        while first > 0 and lines[first - 1].strip():
            first -= 1
        columns, rows, at = cells(lines[at]), [], at + 2
        while at < len(lines) and lines[at].startswith("|"):
            row = cells(lines[at])
            if not row[0] and rows:
                row[0] = rows[-1][0]
            if row[0].startswith("the same: ") and rows:
                row[0] = row[0].replace("the same", rows[-1][0].rpartition(":")[0])
            rows.append(row)
            at += 1
        yield " ".join(lines[first:above + 1]), columns, rows


def is_label(label, cell):
    """Whether a reference means a cell. It can omit the version at the end."""
    return re.fullmatch(re.escape(label) + r"( \d[\d.]*)?", cell)


def found_cell(pages, reference):
    page, *labels, column = [part.strip() for part in reference.split(" | ")]
    page, _, caption = (part.strip() for part in page.partition("#"))
    column, _, position = column.partition("[")
    if page not in pages:
        raise Fault(f"there is no page Docs/benchmarks/{page}")
    found = [
        row[columns.index(column)] for above, columns, rows in tables(pages[page])
        if above.startswith(caption) and column in columns
        for row in rows
        if columns.index(column) < len(row) and all(map(is_label, labels, row)) and len(labels) <= len(row)]
    if len(found) != 1:
        raise Fault(f"{len(found)} cells are called {reference}")
    numbers = NUMBER.findall(found[0])
    index = int(position.rstrip("]") or 1) - 1 if position else 0
    if index >= len(numbers):
        raise Fault(f"{reference} has no such number: {found[0]}")
    return number(numbers[index])


def number(text):
    return float(text.replace(",", ""))


def value(pages, source):
    if isinstance(source, (int, float)):
        return float(source)
    if isinstance(source, dict):
        [(name, parts)] = source.items()
        return CALCULATIONS[name](*(value(pages, part) for part in parts))
    return found_cell(pages, source)


def named(source):
    """A source as a sentence of a fault: its cell, or the calculation."""
    if not isinstance(source, dict):
        return str(source)
    [(name, parts)] = source.items()
    return f"the {name} of " + ", ".join(map(named, parts))


def is_rounded(shown, exact):
    """Whether a figure is the value, rounded to its digits. Zeros at the end of an integer don't count as digits."""
    digits = shown.replace(",", "").lstrip("0.")
    if "." not in shown:
        digits = digits.rstrip("0")
    significant = max(1, len(digits.replace(".", "")))
    if exact == 0:
        return number(shown) == 0
    places = significant - 1 - math.floor(math.log10(abs(exact)))
    # Half a unit of the last digit, so that it doesn't matter which way a tie was rounded.
    return abs(number(shown) - exact) <= 0.5000001 * 10 ** -places


def compared(pages, shown, source, where):
    try:
        exact = value(pages, source)
    except (Fault, ZeroDivisionError) as fault:
        return f"{where}: {fault}"
    if not is_rounded(shown, exact):
        written = f"{exact:,.0f}" if exact >= 1000 else f"{exact:.4g}"
        return f"{where}: {shown} should be {written}, see {named(source)}"
    return None


def without_code(text):
    """The text with blank code blocks, at the same places."""
    blank = lambda found: re.sub(r"[^\n]", " ", found[0])
    return re.sub(r"^ *```.*?^ *```", blank, text, flags=re.M | re.S)


def sentence(entry):
    """The pattern of a sentence. Its words can be on several lines."""
    parts = entry["says"].split("{}")
    words = [r"\s+".join(re.escape(word) for word in re.split(r"\s+", part)) for part in parts]
    return re.compile(r"(\d[\d,]*(?:\.\d+)?)".join(words))


def sentence_faults(pages, entry, text, covered):
    found = list(sentence(entry).finditer(text))
    if not found:
        yield f"{entry['in']}: no sentence is like “{entry['says']}”, see {LIST}"
    for match in found:
        covered.append(match.span())
        if "because" in entry:
            continue
        if len(match.groups()) != len(entry["from"]):
            yield f"{LIST}: “{entry['says']}” has {len(match.groups())} figures, but {len(entry['from'])} sources"
        for shown, source in zip(match.groups(), entry["from"]):
            if fault := compared(pages, shown, source, f"{entry['in']}: “{' '.join(match[0].split())}”"):
                yield fault


def table_faults(pages, entry, text, covered):
    """Compares the cells of a table. A source can contain {column}, which is the name of the column.

    If the cells of a row come from different rows of the page, their sources are listed by column. A list contains a
    source for each number of the cell.
    """
    found = [table for table in tables(text) if " | ".join(table[1]).startswith(entry["table"])]
    if len(found) != 1:
        yield f"{entry['in']}: {len(found)} tables begin with the columns {entry['table']}, see {LIST}"
        return
    _, columns, rows = found[0]
    for match in re.finditer(r"^\|.*$", text, re.M):
        if cells(match[0]) == columns or cells(match[0])[0] in entry["rows"]:
            covered.append(match.span())
    for label in entry["rows"].keys() - {row[0] for row in rows}:
        yield f"{entry['in']}: the table has no row {label}, see {LIST}"
    for row in rows:
        if row[0] not in entry["rows"]:
            yield f"{entry['in']}: the row {row[0]} has no source in {LIST}"
            continue
        for column, cell in list(zip(columns, row))[1:]:
            source = entry["rows"][row[0]]
            source = source.get(column) if isinstance(source, dict) else source.replace("{column}", column)
            sources = source if isinstance(source, list) else [source]
            for shown, source in zip(NUMBER.findall(cell), sources):
                if source and (fault := compared(pages, shown, source, f"{entry['in']}: {row[0]}, {column}")):
                    yield fault


def unlisted(name, text, covered):
    """The measured figures that no entry of the list contains."""
    patterns = [MEASURED] + ([TIMES] if name in OVERVIEWS else [])
    for match in (match for pattern in patterns for match in pattern.finditer(text)):
        if not any(first <= match.start() and match.end() <= last for first, last in covered):
            line = text.count("\n", 0, match.start()) + 1
            yield f"{name}:{line}: “{match[0]}” has no source in {LIST}"


def faults(root):
    pages = {path.name: path.read_text() for path in (root / "Docs/benchmarks").glob("*.md")}
    entries = json.loads((root / LIST).read_text())
    paths = [root / "README.md", root / "Docs/features.md", *sorted(root.glob("Sources/*/*.docc/*.md"))]
    names = [path.relative_to(root).as_posix() for path in paths if path.exists()]
    for name in sorted({entry["in"] for entry in entries} | set(names)):
        if not (root / name).exists():
            yield f"{LIST}: there is no {name}"
            continue
        text, covered = without_code((root / name).read_text()), []
        for entry in (entry for entry in entries if entry["in"] == name):
            yield from (table_faults if "table" in entry else sentence_faults)(pages, entry, text, covered)
        if name in names:
            yield from unlisted(name, text, covered)
