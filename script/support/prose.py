"""Checks comments, Markdown and messages for words that readers stumble over, and prints what to write instead.

    python3 script/support/prose.py [PATH…]

It skips code in fenced blocks and between backquotes. In tests and examples, it checks only the names of tests and
suites; in modules and scripts, all strings of more than two words.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The patterns, with advice. Words that are often right are not listed, because a pattern can't distinguish the uses.
WORDS = {
    "hears?|heard|tells?|told|untold": "is notified, receives, returns, reports",
    "whoever|whomever|somebody|nobody": "the caller, a thread, no other thread: name the actor",
    "at once": "immediately, at the same time, together",
    "for ever": "forever",
    "for good": "permanently",
    "by hand": "manually",
    "in place of": "instead of",
    "beside": "next to",
    "anew": "again, from the beginning",
    "meanwhile": "in the meantime, or nothing",
    r"of the user's(?!\s*\w)|of users'(?!\s*\w)|users' code": "user code; the user's …",
    "any more|(?<!and )no more(?=[.,;:)])": "no longer, no further",
    "lets? go": "releases",
    "(?:is|are|was|were|be|been) asked": "is called, read, evaluated, requested",
    "(?:goes|went|going|go) on": "continues",
    "mend(?:s|ed|ing)?": "fixes",
    "(?-i:Stands? for)": "Represents",
    "comes? about|came about|becomes? of": "occurs; the result, the effect",
    "nothing but|all but|but for": "only, except",
    "of whose|of whom|such a one": "two sentences, or a participle",
    "also (?:when|if|where)": "even if, also + verb",
    "(?:is|are|was|were) to (?:be|have|run|go|come|hear|ask|see|know)": "must, should, or the present tense",
}
GROUPS = (rf"\b(?P<w{n}>{re.sub('(?<!and) ', ' +', word)})(?!\w)" for n, word in enumerate(WORDS))
PATTERN = re.compile("|".join(GROUPS), re.IGNORECASE)
STRING = r'"""[\s\S]*?"""|"(?:\\.|[^"\\\n])*"'
TOKENS = {
    "c": re.compile(rf"{STRING}|//[^\n]*|/\*[\s\S]*?\*/"),
    "script": re.compile(rf"{STRING}|(?<!\S)#[^\n]*"),
}
KINDS = {".md": None} | dict.fromkeys([".swift", ".c", ".h", ".hpp", ".pml", ".js"], "c") \
    | dict.fromkeys(["", ".py", ".sh", ".toml"], "script")
CODE = re.compile(r"^ *```[\s\S]*?^ *```|``?[^`\n]+``?|\]\([^)\n]*\)", re.MULTILINE)


def blank(text):
    """As many spaces as there are characters, and the same line breaks."""
    return re.sub(r"[^\n]", " ", text)


def prose(name, text, kind):
    """The text with spaces in the places of code and of the marks of comments."""
    kept, end = [], 0
    for token in TOKENS[kind].finditer(text) if kind else ():
        found, before = token.group(), text[max(token.start() - 40, 0):token.start()]
        if found.startswith('"'):
            is_title = re.search(r"@(?:Test|Suite)\(\s*$", before)
            checks = is_title if name.startswith(("Tests/", "Examples/")) else len(found.split()) > 2
        else:
            checks = True
        kept += [blank(text[end:token.start()]), found if checks else blank(found)]
        end = token.end()
    if kind:
        text = re.sub(r"^ *(?://+|#+|\*)", lambda mark: blank(mark.group()), "".join(kept), flags=re.MULTILINE)
    return CODE.sub(lambda code: blank(code.group()), text)


def main(paths):
    command = ["git", "ls-files", "-z", "--", *paths]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    count = 0
    for name in filter(None, names):
        path = ROOT / name
        if path.suffix not in KINDS or path.is_symlink() or path == pathlib.Path(__file__).resolve():
            continue
        text = prose(name, path.read_text(errors="replace"), KINDS[path.suffix])
        # A phrase can continue on the next line; an empty line ends it.
        for found in PATTERN.finditer(re.sub(r"\n(?! *\n)", " ", text)):
            line = text.count("\n", 0, found.start()) + 1
            print(f"{name}:{line}: {' '.join(found.group().split())}: {WORDS[list(WORDS)[int(found.lastgroup[1:])]]}")
            count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
