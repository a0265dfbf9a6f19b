"""Checks built documentation: each public symbol has a documentation comment and is in a topic group, unless it is
deprecated.

    documentation.py FOLDER MODULE...

FOLDER is where script/documentation has written symbols and archives. Of the first module, the members of types are
checked, too; of the other modules, only what the page of the module lists.
"""

import json
import pathlib
import sys


def public_symbols(folder, module):
    """The module's own public symbols, also as members of the types that get them from its protocols' extensions.

    Not what types get from protocols of other modules.
    """
    graph = json.loads((folder / "symbols" / module / f"{module}.symbols.json").read_text())
    symbols = graph["symbols"]
    # Listed with their requirements, without a topic group.
    defaults = {relation["source"] for relation in graph["relationships"] if relation["kind"] == "defaultImplementationOf"}
    own = {symbol["identifier"]["precise"] for symbol in symbols}
    for symbol in symbols:
        original, synthesized, _ = symbol["identifier"]["precise"].partition("::SYNTHESIZED::")
        if original in defaults:
            continue
        if symbol["accessLevel"] in ("public", "open") and (not synthesized or original in own):
            yield symbol


def pages(archive):
    """The pages of the documentation."""
    for path in sorted((archive / "data" / "documentation").rglob("*.json")):
        yield json.loads(path.read_text())


def is_deprecated(symbol):
    """Whether the symbol is a former name, which no topic group lists."""
    return any(availability.get("isUnconditionallyDeprecated") for availability in symbol.get("availability", ()))


def place(symbol):
    """Where the symbol is declared, if that is known, and its name."""
    name = ".".join(symbol["pathComponents"])
    location = symbol.get("location")
    if not location:
        return name
    path = pathlib.Path(location["uri"].removeprefix("file://"))
    path = path.relative_to(pathlib.Path.cwd()) if path.is_relative_to(pathlib.Path.cwd()) else path
    return f"{path}:{location['position']['line'] + 1}: {name}"


def check(folder, module, with_members):
    """Prints the problems of a module. Returns whether there are none."""
    archive = folder / f"{module}.doccarchive"
    address_of, grouped = {}, {}
    for page in pages(archive):
        address = page["identifier"]["url"]
        external = page.get("metadata", {}).get("externalID")
        if external:
            address_of[external] = address
        grouped[address] = {
            identifier
            for section in page.get("topicSections", [])
            if not section.get("generated")
            for identifier in section["identifiers"]
        }
    if not address_of:
        sys.exit(f"script/documentation: there are no pages in {archive}")

    faults, count = [], 0
    for symbol in public_symbols(folder, module):
        if len(symbol["pathComponents"]) > 1 and not with_members:
            continue
        count += 1
        precise = symbol["identifier"]["precise"]
        if not any(line["text"].strip() for line in symbol.get("docComment", {}).get("lines", [])):
            faults.append(f"{place(symbol)} has no documentation comment")
        if is_deprecated(symbol):
            continue
        address = address_of.get(precise)
        if address is None:
            faults.append(f"{place(symbol)} has no page")
        elif address not in grouped.get(address.rpartition("/")[0], ()):
            faults.append(f"{place(symbol)} is in no topic group of {address.rpartition('/')[0].rpartition('/')[2]}")
    for fault in sorted(faults):
        print(f"script/documentation: {fault}", file=sys.stderr)
    if not faults:
        print(f"{module}: {count} public symbols are documented and in topic groups.")
    return not faults


def main(folder, modules):
    results = [check(folder, module, with_members=module == modules[0]) for module in modules]
    return 0 if all(results) else 1


sys.exit(main(pathlib.Path(sys.argv[1]), sys.argv[2:]))
