"""Writes the manual page of the tool, from its own output: `headway --experimental-dump-help | manual.py`.

The argument parser's own plugin builds the package a second time, without the static standard library, and breaks the
lines of examples.
"""

import json
import sys


def escaped(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in text.split("\n"))


def paragraphs(text):
    """Paragraphs as they are, examples line by line."""
    parts = []
    for paragraph in text.split("\n\n"):
        title, _, rest = paragraph.partition("\n")
        if title.endswith(":") and title.isupper():
            parts.append(f".PP\n.B {escaped(title.rstrip(':').capitalize())}\n.nf\n{escaped(rest)}\n.fi")
        else:
            parts.append(f".PP\n{escaped(paragraph)}")
    return "\n".join(parts)


def name(part):
    return ("-" if part["kind"] == "short" else "--") + part["name"]


def arguments(command):
    lines = []
    for argument in command.get("arguments", []):
        if not argument.get("shouldDisplay", True):
            continue
        value = f"<{argument.get('valueName', '')}>"
        if argument["kind"] == "positional":
            title = value
        else:
            title = ", ".join(name(part) for part in argument["names"])
            if argument["kind"] == "option":
                title += f" {value}"
        if argument.get("isRepeating"):
            title += " ..."
        text = argument.get("abstract", "")
        if argument.get("defaultValue"):
            text += f" (default: {argument['defaultValue']})"
        lines += [".TP", f".B {escaped(title)}", escaped(text)]
    return lines


def main():
    tool = json.load(sys.stdin)["command"]
    called = tool["commandName"]
    page = [
        f".TH {called.upper()} 1",
        ".SH NAME", f"{called} \\- {escaped(tool['abstract'])}",
        ".SH SYNOPSIS", f".B {called}", "<command> [<options>]",
        ".SH DESCRIPTION", paragraphs(tool.get("discussion", "")), *arguments(tool),
    ]
    for command in tool.get("subcommands", []):
        if command["commandName"] == "help" or not command.get("shouldDisplay", True):
            continue
        page += [
            f".SH {called.upper()} {command['commandName'].upper()}", escaped(command["abstract"]),
            paragraphs(command.get("discussion", "")), *arguments(command),
        ]
    page += [
        ".SH EXIT STATUS", "0, one of those of",
        ".BR sysexits (3),", "or 128 and the number of the signal that stopped it.",
    ]
    print("\n".join(page))


main()
