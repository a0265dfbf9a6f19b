"""Checks local links: that each file exists, and has the heading or element that the link names after `#`.

    links.py            the Markdown files of the repository
    links.py SITE       the pages of the site, with links to the reference if the site has one
    links.py SITE --partial    the same, except links to modules that the reference does not have

Addresses of other hosts are not requested.
"""

import html.parser
import json
import pathlib
import re
import subprocess
import sys
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The folder of a site that `docc` has written.
REFERENCE = "reference"
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


def pages_of(site):
    """The pages of the site, except those of DocC."""
    for path in sorted(site.rglob("*.html")):
        if path.relative_to(site).parts[0] != REFERENCE:
            yield path, Page(path.read_text())


def site_faults(site, is_partial):
    reference = site / REFERENCE
    is_partial |= not reference.exists()
    pages = dict(pages_of(site))
    for path, page in pages.items():
        for address in filter(is_local, page.addresses):
            file, _, anchor = urllib.parse.unquote(address).partition("#")
            target = (path.parent / file).resolve() if file else path
            if is_partial and target.is_relative_to(reference / "documentation"):
                module = target.relative_to(reference).parts[1:2]
                if not (reference / "documentation").joinpath(*module).exists():
                    continue
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                yield f"{path.relative_to(site)}: there is no {address}"
            elif anchor and target in pages and anchor not in pages[target].identifiers:
                yield f"{path.relative_to(site)}: nothing has the identifier of {address}"
    yield from reference_faults(reference)


def reference_faults(reference):
    """The links of DocC's pages to other pages of the reference, and to its pictures."""
    for path in sorted(reference.glob("data/documentation/**/*.json")):
        for link in json.loads(path.read_text()).get("references", {}).values():
            address = link.get("url", "").partition("#")[0]
            if address.startswith("/documentation/") and not (reference / f"data{address}.json").exists():
                yield f"{path.relative_to(reference.parent)}: there is no {address}"
            for variant in link.get("variants", []) if link.get("type") == "image" else []:
                if not (reference / variant["url"].lstrip("/")).exists():
                    yield f"{path.relative_to(reference.parent)}: there is no {variant['url']}"


def main(arguments):
    if arguments:
        found = list(site_faults(pathlib.Path(arguments[0]).resolve(), "--partial" in arguments))
    else:
        found = list(markdown_faults())
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
