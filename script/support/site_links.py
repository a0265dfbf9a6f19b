"""Checks links to the site and to the repository that have a host: that they lead to a page or to a file.

DocC can't link from a guide of one module to a guide of another, and documentation comments have no place of their own,
so such links have a host. script/support/links.py doesn't check them.
"""

import re
import subprocess
import urllib.parse

from website import build

LINK = re.compile(r"https://(?:headway-swift\.github\.io|github\.com/headway-swift/headway)(?:/[^\s)>\"'`\]]*)?")
# A checkout has no such pages, but the host has.
PAGES_OF_HOST = {"", "releases", "issues", "actions", "security", "discussions", "pulls", "compare"}
KINDS = ["*.md", "*.swift", "*.yml", "*.html", "*.json"]


def headings(path):
    text = re.sub(r"^ *```.*?^ *```", "", path.read_text(), flags=re.M | re.S)
    return re.findall(r"^#+ (.+)$", text, re.M)


def docc_anchor(heading):
    """The identifier that DocC gives to a heading."""
    return re.sub(r"-+", "-", re.sub(r"[^\w-]", "-", re.sub(r"[`’']", "", heading))).strip("-")


def article(root, module, name):
    """The document of a page in the reference, or None."""
    for path in root.glob("Sources/*/*.docc/*.md"):
        folder = path.parent.name.removesuffix(".docc")
        if folder.lower() == module and path.stem.lower() == (name or module):
            return path
    return None


def site_fault(root, address, anchor):
    """The reason why an address in the site, relative to its folder, is wrong, or None."""
    parts = [part for part in address.strip("/").split("/") if part]
    if parts[:2] == ["reference", "documentation"] and len(parts) > 2:
        path = article(root, parts[2].lower(), parts[3].lower() if len(parts) > 3 else "")
        if len(parts) > 4 or path is None:
            return "the reference has no such guide"
        if anchor and anchor not in map(docc_anchor, headings(path)):
            return f"{path.name} has no such heading"
        return None
    page = "/".join(parts)
    if not parts or page == "index.html":
        return None
    document = re.sub(r"\.html$", ".md", page)
    if document in build.Repository().documents or page in build.Repository().files:
        return None
    return "the site has no such page"


def repository_fault(root, address, anchor):
    kind, *parts = address.strip("/").split("/")
    if kind not in ("blob", "tree", "raw"):
        return None if kind in PAGES_OF_HOST else "the repository has no such page"
    path = root.joinpath(*parts[1:])
    if parts[:1] != ["main"] or not path.exists():
        return "there is no such file"
    if anchor and path.suffix == ".md" and anchor not in map(build.slug, headings(path)):
        return "the document has no such heading"
    return None


def fault(root, link):
    address, _, anchor = urllib.parse.unquote(link).partition("#")
    if address.startswith(build.REPOSITORY):
        return repository_fault(root, address.removeprefix(build.REPOSITORY).removesuffix(".git"), anchor)
    if address != build.SITE and not address.startswith(build.SITE + "/"):
        return f"the site is at {build.SITE}"
    return site_fault(root, address.removeprefix(build.SITE), anchor)


def base_faults(root):
    """Each place that builds the site for its host must name the folder of the site there."""
    base = build.SITE.rpartition("/")[2]
    for name in ["Docs/releasing.md", ".github/workflows/documentation.yml"]:
        path = root / name
        if path.exists() and f"script/documentation --base {base}" not in path.read_text():
            yield f"{name}: the site is at {build.SITE}, so build it with script/documentation --base {base}"


def faults(root):
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *KINDS], cwd=root, capture_output=True,
        text=True, check=True)
    for name in listed.stdout.splitlines():
        path = root / name
        if not path.exists() or name == "CHANGELOG.md":
            continue
        text = path.read_text()
        for found in LINK.finditer(text):
            link = found[0].rstrip(".,;:")
            if reason := fault(root, link):
                yield f"{name}:{text.count(chr(10), 0, found.start()) + 1}: {link}: {reason}"
    yield from base_faults(root)
