"""The rules of the specification and the tests that name them."""

import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULES = ROOT / "Docs" / "rules.md"
# The sections whose rules need no test yet, because the things that they describe do not exist.
PLANNED = {"X"}
TEST = re.compile(r'@Test\(\s*"((?:[^"\\]|\\.)*)"')
# The checks of job stores, and the call that runs all of them in a test of a store.
CHECK = re.compile(r'JobStoreCheck\(\s*"((?:[^"\\]|\\.)*)"')
CHECKS = (ROOT / "Sources" / "HeadwayJobsTestKit", "JobStoreConformance.checks")
# A rule: its name with its marks, and its text.
RULE = re.compile(r"^- \*\*([A-Z]\d+(?: (?:\[.\])+)?)\*\* (.*)$")
NAMES = re.compile(r"^((?:[A-Z]\d+(?:, | and )?)+):\s*(.*)$")


def rules_of(path):
    """The text of each rule in a document, with its marks, by name. Line breaks do not count."""
    texts, name = {}, None
    for line in path.read_text().splitlines():
        found = RULE.match(line)
        if found:
            name, _, marks = found.group(1).partition(" ")
            texts[name] = f"{marks} {found.group(2)}".strip()
        elif name and line.startswith("  "):
            texts[name] += " " + line.strip()
        else:
            name = None
    return texts


def titles():
    """The titles of the tests with their places: a file, its text, and where the title is in it."""
    folder, name = CHECKS
    runs_checks = False
    for path in sorted((ROOT / "Tests").rglob("*.swift")):
        text = path.read_text()
        runs_checks = runs_checks or name in text
        yield from ((path, text, match) for match in TEST.finditer(text))
    if not runs_checks:
        return
    for path in sorted(folder.rglob("*.swift")):
        text = path.read_text()
        yield from ((path, text, match) for match in CHECK.finditer(text))


def tests():
    """The titles and places of the tests, by rule."""
    by_rule = {}
    for path, text, match in titles():
        named = NAMES.match(match.group(1))
        if not named:
            continue
        line = text.count("\n", 0, match.start()) + 1
        for rule in re.findall(r"[A-Z]\d+", named.group(1)):
            by_rule.setdefault(rule, []).append((named.group(2), f"{path.relative_to(ROOT)}:{line}"))
    return by_rule


def first_words(text):
    """The beginning of a rule, on one line."""
    return textwrap.shorten(text, 96, placeholder=" …")


def main(arguments):
    rules, found = rules_of(RULES), tests()
    unknown = sorted(set(found) - set(rules))
    missing = [rule for rule in rules if rule not in found]
    if arguments == ["--missing"]:
        print("\n".join(f"{rule}  {first_words(rules[rule])}" for rule in missing))
        return 0
    for rule in rules:
        if rule in found:
            print(f"{rule}  {first_words(rules[rule])}")
            for title, place in found[rule]:
                print(f"    {title}  ({place})")
    print(f"\n{len(rules) - len(missing)} rules have tests; {len(missing)} have none yet"
          + (f": {', '.join(missing)}" if missing else ""))
    complaints = {
        "tests name rules that are none": unknown,
        "rules without a test": [rule for rule in missing if rule[0] not in PLANNED],
    }
    for complaint, names in complaints.items():
        if names:
            print(f"script/rules: {complaint}: {', '.join(names)}", file=sys.stderr)
    return 1 if any(complaints.values()) else 0


sys.exit(main(sys.argv[1:]))
