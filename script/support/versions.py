"""Compares what the documents claim with what is true: versions, figures, what doesn't exist, and links with a host.

    versions.py                 prints each fault, and fails if there is one
    versions.py --set X.Y.Z     writes a new version to its source and to all places that name it

The source of the version is Sources/HeadwayTool/Version.swift. The other checks are in figures.py, claims.py,
guide_packages.py, project_files.py and site_links.py.
"""

import pathlib
import re
import subprocess
import sys

import claims
import figures
import guide_packages
import project_files
import site_links

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE = "Sources/HeadwayTool/Version.swift"
KINDS = {"Highlights", "Added", "Changed", "Renamed", "Deprecated", "Removed", "Fixed", "Security"}
# The files that can name the version of the package, and the text before and after it there.
DOCUMENTS = ["*.md", "*.swift", "*.yml", "Dockerfile*", "Examples/Deployment/*"]
PLACES = [
    (r'github\.com/headway-swift/headway(?:\.git)?", (?:from: |exact: |\.upToNextMinor\(from: )"', r'"'),
    (r"^Version ", r", under \[semantic"),
    (r"--branch ", r" https://github\.com/headway-swift/headway"),
    (r"HEADWAY_VERSION=", r"$"),
]
# The changelog names old versions. The steps of a release use X.Y.Z.
EXCEPT = {"CHANGELOG.md"}
VERSION = r"(\d+\.\d+\.\d+)"
# SECURITY.md names the minor version that receives fixes.
SUPPORTED = (r"^\| ", r"(\d+\.\d+)", r"\.x \| yes")


def version_of(text):
    return re.search(rf'packageVersion = "{VERSION}"', text).group(1)


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


def documents(root):
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *DOCUMENTS], cwd=root, capture_output=True,
        text=True, check=True)
    for name in sorted(listed.stdout.splitlines()):
        if name not in EXCEPT and (root / name).is_file():
            yield name


def text_faults(name, text, version):
    """The places of a document that name another version of the package."""
    for before, after in PLACES:
        for found in re.finditer(before + VERSION + after, text, re.M):
            if found[1] != version:
                yield f"{name}:{text.count(chr(10), 0, found.start()) + 1}: {found[1]} should be {version}"
    if name == "SECURITY.md":
        before, form, after = SUPPORTED
        minor = version.rpartition(".")[0]
        named = re.findall(before + form + after, text, re.M)
        if named != [minor]:
            yield f"{name}: the supported version is {minor}.x, not {', '.join(named) or 'missing'}"
    if name == "README.md" and not re.search(rf"Version {re.escape(version)}\b", text):
        yield f"{name}: it does not contain Version {version}"


def version_faults(root):
    version = version_of((root / SOURCE).read_text())
    for name in documents(root):
        yield from text_faults(name, (root / name).read_text(), version)
    for fault in changelog_faults(version, (root / "CHANGELOG.md").read_text()):
        yield f"CHANGELOG.md: {fault}"


def with_version(name, text, version):
    """A document with a new version in all places."""
    for before, after in PLACES:
        text = re.sub(f"({before}){VERSION}({after})", rf"\g<1>{version}\g<3>", text, flags=re.M)
    if name == SOURCE:
        text = re.sub(r'(packageVersion = ")[^"]*', rf"\g<1>{version}", text)
    if name == "SECURITY.md":
        before, form, after = SUPPORTED
        text = re.sub(f"({before}){form}({after})", rf"\g<1>{version.rpartition('.')[0]}\g<3>", text, flags=re.M)
    return text


def set_version(root, version):
    for name in {SOURCE, *documents(root)}:
        text = (root / name).read_text()
        if (changed := with_version(name, text, version)) != text:
            (root / name).write_text(changed)
            print(name)


def main(arguments):
    if arguments[:1] == ["--set"]:
        if len(arguments) != 2 or not re.fullmatch(VERSION, arguments[1]):
            print("versions.py: --set requires a version, such as 1.2.3", file=sys.stderr)
            return 64
        set_version(ROOT, arguments[1])
        return 0
    found = list(version_faults(ROOT))
    for check in [figures, claims, guide_packages, project_files, site_links]:
        found += check.faults(ROOT)
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
