"""Checks the files for GitHub and the Swift Package Index: all libraries are listed, and workflows are pinned.

A tag of an action can be moved to other code, so workflows name the commit, and the version in a comment. A workflow
also limits the permissions of its token.
"""

import re

PIN = re.compile(r"uses: ([\w.-]+/[\w./-]+)@(\S+)(.*)")


def libraries(manifest):
    return re.findall(r'\.library\(name: "(\w+)"', manifest)


def library_faults(manifest, index, readme):
    """The Swift Package Index documents each library, and the README's table of products lists it."""
    listed = re.findall(r"^ +- (Headway\w*)$", index, re.M)
    table = set(re.findall(r"`(Headway\w*)`", "".join(re.findall(r"^\|.*$", readme, re.M))))
    for name in libraries(manifest):
        if name not in listed:
            yield f".spi.yml: {name} is missing in documentation_targets"
        if name not in table:
            yield f"README.md: no table lists the product {name}"
    for name in set(listed) - set(libraries(manifest)):
        yield f".spi.yml: there is no library {name}"


def workflow_faults(name, text):
    if not re.search(r"^permissions:", text, re.M):
        yield f"{name}: it does not limit its permissions"
    for number, line in enumerate(text.splitlines(), 1):
        found = PIN.search(line)
        if found and (not re.fullmatch(r"[0-9a-f]{40}", found[2]) or not re.fullmatch(r" # v[\d.]+", found[3])):
            yield f"{name}:{number}: pin {found[1]} by its commit, and name the version in a comment"


def faults(root):
    read = lambda name: (root / name).read_text()
    yield from library_faults(read("Package.swift"), read(".spi.yml"), read("README.md"))
    for path in sorted(root.glob(".github/workflows/*.yml")):
        yield from workflow_faults(path.relative_to(root).as_posix(), path.read_text())
