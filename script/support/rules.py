"""The rules of the specification and the tests that name them."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Each rule that must have a test. Sections that are not built yet join when they are.
DONE = {
    "O": range(1, 9),
    "C": range(1, 8),
    "D": range(1, 9),
    "P": range(1, 6),
    "W": range(1, 6),
    "K": range(1, 5),
    "B": [1, 2, 5],
    "Q": range(1, 12),
    "T": range(1, 6),
    "L": range(1, 6),
    "I": range(1, 7),
}
TEST = re.compile(r'@Test\(\s*"((?:[^"\\]|\\.)*)"')
NAMES = re.compile(r"^((?:[A-Z]\d+(?:, | and )?)+):\s*(.*)$")


def specification():
    """The rules with their titles, when the specification lies beside the repository; else only their names."""
    for candidate in (ROOT.parent / "shared" / "spec.md",):
        if candidate.exists():
            found = re.findall(r"^- \*\*([A-Z]\d+)(?: (\[[^*]*\]))?\*\*", candidate.read_text(), re.M)
            return [name for name, _ in found]
    return [f"{section}{number}" for section, numbers in DONE.items() for number in numbers]


def tests():
    """The titles and places of the tests, by rule."""
    by_rule = {}
    for path in sorted((ROOT / "Tests").rglob("*.swift")):
        text = path.read_text()
        for match in TEST.finditer(text):
            named = NAMES.match(match.group(1))
            if not named:
                continue
            line = text.count("\n", 0, match.start()) + 1
            for rule in re.findall(r"[A-Z]\d+", named.group(1)):
                by_rule.setdefault(rule, []).append((named.group(2), f"{path.relative_to(ROOT)}:{line}"))
    return by_rule


def main(arguments):
    rules, found = specification(), tests()
    required = {f"{section}{number}" for section, numbers in DONE.items() for number in numbers}
    unknown = sorted(set(found) - set(rules))
    missing = [rule for rule in rules if rule not in found]
    if arguments == ["--missing"]:
        print("\n".join(missing))
        return 0
    for rule in rules:
        if rule in found:
            print(f"{rule}  {len(found[rule])} test{'s' if len(found[rule]) != 1 else ''}")
            for title, place in found[rule]:
                print(f"    {title}  ({place})")
    lacking = [rule for rule in rules if rule in required and rule not in found]
    print(f"\n{len([rule for rule in rules if rule in found])} rules have tests; {len(missing)} have none yet"
          + (f": {', '.join(missing)}" if missing else ""))
    if unknown:
        print(f"script/rules: tests name rules that are none: {', '.join(unknown)}", file=sys.stderr)
    if lacking:
        print(f"script/rules: rules without a test: {', '.join(lacking)}", file=sys.stderr)
    return 1 if lacking or unknown else 0


sys.exit(main(sys.argv[1:]))
