"""Checks local links: that each file exists, and has the heading or element that the link names after `#`.

    links.py            the Markdown files of the repository
    links.py SITE       the pages of a static site, except those of DocC, which checks its own links

Addresses of other hosts are not requested.
"""

import html.parser
import pathlib
import re
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)|^\[[^\]]+\]: (\S+)$", re.M)


def without_code(text):
    return re.sub(r"`[^`\n]*`", "", re.sub(r"^(\s*)```.*?^\s*```", "", text, flags=re.M | re.S))


def anchors(path):
    """The anchors that a host of Markdown gives to headings."""
    for heading in re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", path.read_text(), flags=re.M | re.S), re.M):
        yield re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def is_local(address):
    return not re.match(r"[a-z][a-z0-9+.-]*:|//", address)


def markdown_faults():
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True,
        text=True, check=True)
    for name in sorted(listed.stdout.split()):
        path = ROOT / name
        if not path.exists():
            continue
        for found in LINK.findall(without_code(path.read_text())):
            address = urllib.parse.unquote(found[0] or found[1])
            if not is_local(address):
                continue
            file, _, anchor = address.partition("#")
            target = (path.parent / file).resolve() if file else path
            if ".docc" in name and "/" not in file:
                continue  # DocC finds its resources by name, and checks them.
            if not target.exists():
                yield f"{name}: there is no {address}"
            elif anchor and target.suffix == ".md" and anchor not in anchors(target):
                yield f"{name}: there is no heading for {address}"


class Page(html.parser.HTMLParser):
    """The addresses and the identifiers of a page."""

    def __init__(self, text):
        super().__init__()
        self.addresses, self.identifiers = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("href", "src") and value:
                self.addresses.append(value)
            elif name == "srcset" and value:
                self.addresses += [candidate.split()[0] for candidate in value.split(",")]
            elif name == "id":
                self.identifiers.add(value)


def site_faults(site, has_documentation):
    """The faults of the pages of the landing site; those of DocC are in folders named `documentation` and `data`."""
    pages = {}
    for path in sorted(site.rglob("*.html")):
        if not {"documentation", "tutorials"} & set(path.relative_to(site).parts):
            pages[path.resolve()] = Page(path.read_text())
    for path, page in pages.items():
        for address in page.addresses:
            if not is_local(address):
                continue
            file, _, anchor = urllib.parse.unquote(address).partition("#")
            target = (path.parent / file).resolve() if file else path
            if target.is_dir():
                target /= "index.html"
            if "documentation" in target.parts and not has_documentation:
                continue
            if not target.exists():
                yield f"{path.relative_to(site.resolve())}: there is no {address}"
            elif anchor and target in pages and anchor not in pages[target].identifiers:
                yield f"{path.relative_to(site.resolve())}: nothing has the identifier of {address}"


def main(arguments):
    if arguments:
        site = pathlib.Path(arguments[0])
        found = list(site_faults(site, (site / "documentation").exists()))
    else:
        found = list(markdown_faults())
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
