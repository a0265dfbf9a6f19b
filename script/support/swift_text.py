"""Finds the code in the text of Swift sources."""

import bisect
import re

# Where a literal, a comment, or a parenthesis can begin or end.
NOTABLE = re.compile(r'[/"#()]')
IN_STRING = re.compile(r'[\\"/\r\n]')
REGULAR_EXPRESSION = re.compile(r"/(?![\s/*])(?:\\.|[^\\/\r\n])+/")
OPENING = re.compile(r'(#*)("""|"|/(?=[^/*]))')
LINE_END = re.compile(r"\r\n|\r|\n")


def masked(text):
    """The text, with blanks instead of the content of strings, comments and regular expressions, in the same length.

    Code in string interpolations is kept.
    """
    kept = list(text)
    mask_code(text, 0, kept, is_interpolation=False)
    return "".join(kept)


def mask_code(text, position, kept, is_interpolation):
    """Masks up to the end, or to the parenthesis that ends an interpolation. Returns where that is."""
    depth = 1
    while found := NOTABLE.search(text, position):
        position = found.start()
        end = mask_literal(text, position, kept)
        if end is not None:
            position = end
            continue
        depth += {"(": 1, ")": -1}.get(text[position], 0)
        if is_interpolation and depth == 0:
            return position
        position += 1
    return len(text)


def blank(text, start, end, kept):
    for index in range(start, end):
        if text[index] not in "\r\n":
            kept[index] = " "


def mask_literal(text, start, kept):
    """Masks the comment, string or regular expression that begins at `start`. Returns its end; None if none begins."""
    if text.startswith(("//", "/*"), start):
        end = line_end(text, start) if text[start + 1] == "/" else end_of_comment(text, start)
        blank(text, start, end, kept)
        return end
    if text[start] == "/":
        # A regular expression is in the position of an operand and does not begin with a blank.
        before = start
        while before > 0 and text[before - 1] in " \t":
            before -= 1
        found = REGULAR_EXPRESSION.match(text, start)
        if not found or (before > 0 and text[before - 1] not in "=(,:[{;!&|?\r\n"):
            return None
        blank(text, start, found.end(), kept)
        return found.end()
    opening = OPENING.match(text, start)
    if not opening or text[start] not in '#"' or (opening[2] == "/" and not opening[1]):
        return None
    return mask_string(text, start, opening, kept)


def end_of_comment(text, start):
    depth, position = 1, start + 2
    while depth > 0:
        found = re.compile(r"/\*|\*/").search(text, position)
        if not found:
            return len(text)
        depth += 1 if found[0] == "/*" else -1
        position = found.end()
    return position


def mask_string(text, start, opening, kept):
    escape, close, quote = "\\" + opening[1], opening[2] + opening[1], opening[2]
    position = opening.end()
    while found := IN_STRING.search(text, position):
        position = found.start()
        if text.startswith(close, position):
            blank(text, start, position + len(close), kept)
            return position + len(close)
        if quote == '"' and text[position] in "\r\n":
            blank(text, start, position, kept)
            return position
        if quote != "/" and text.startswith(escape + "(", position):
            begin = position + len(escape) + 1
            blank(text, start, begin, kept)
            start = position = mask_code(text, begin, kept, is_interpolation=True)
        else:
            position += len(escape) + 1 if text.startswith(escape, position) else 1
    blank(text, start, len(text), kept)
    return len(text)


def line_end(text, start):
    found = LINE_END.search(text, start)
    return found.start() if found else len(text)


def line_starts(text):
    return [0] + [found.end() for found in LINE_END.finditer(text)]


def line_number(starts, position):
    return bisect.bisect_right(starts, position)


def end_of_braces(code, begin):
    """The position after the brace that closes the one at `begin`."""
    depth = 0
    for found in re.compile(r"[{}]").finditer(code, begin):
        depth += 1 if found[0] == "{" else -1
        if depth == 0:
            return found.end()
    return len(code)
