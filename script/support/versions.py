"""Checks that documents name the version of Sources/HeadwayTool/Version.swift, and the form of the changelog."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
KINDS = {"Added", "Changed", "Renamed", "Deprecated", "Removed", "Fixed", "Security"}


def changelog_faults(version, text):
    headings = re.findall(r"^## (.*)$", text, re.M)
    if not headings or headings[0] != "[Unreleased]":
        yield "begin with ## [Unreleased]"
    if len(headings) < 2 or not re.fullmatch(rf"\[{re.escape(version)}\] - \d{{4}}-\d{{2}}-\d{{2}}", headings[1]):
        yield f"the second section is not ## [{version}] - YYYY-MM-DD"
    for heading in headings:
        name = re.match(r"\[(.+?)\]", heading)
        if not name or f"\n[{name.group(1)}]: https://" not in text:
            yield f"there is no link for {heading}"
    for kind in re.findall(r"^### (.*)$", text, re.M):
        if kind not in KINDS:
            yield f"{kind} is not one of {', '.join(sorted(KINDS))}"


def faults():
    source = (ROOT / "Sources/HeadwayTool/Version.swift").read_text()
    version = re.search(r'packageVersion = "(\d+\.\d+\.\d+)"', source).group(1)
    readme = (ROOT / "README.md").read_text()
    if f"Version {version}" not in readme:
        yield f"README.md: it does not contain Version {version}"
    for path in [ROOT / "README.md", *sorted(ROOT.glob("Docs/*.md")), *sorted(ROOT.glob("Sources/**/*.md"))]:
        for named in re.findall(r'github\.com/headway-swift/headway", from: "([\d.]+)"', path.read_text()):
            if named != version:
                yield f"{path.relative_to(ROOT)}: it requires {named} instead of {version}"
    for fault in changelog_faults(version, (ROOT / "CHANGELOG.md").read_text()):
        yield f"CHANGELOG.md: {fault}"


if __name__ == "__main__":
    found = list(faults())
    print("\n".join(found), end="\n" if found else "")
    sys.exit(1 if found else 0)
