"""Compares the public interface of two versions by their symbol graphs, and lists what breaks source that uses it.

    api.py [--added] OLD NEW MODULE...

OLD and NEW are folders with the output of `swift symbolgraph-extract`. A breaking change is a declaration that was
removed or changed, a conformance or superclass that was removed, a new requirement of a protocol without a default, or
a new case of an enumeration. Names that begin with an underscore are not public (Docs/public-api.md).

Symbol graphs do not show a new `required` initializer, a type that became noncopyable, tighter conditions of a
conformance, or the conditions of a default implementation. Look for these in the difference of the sources.
"""

import json
import pathlib
import sys


# Copyable, Escapable and SendableMetatype: conformances that symbol graphs list only next to others.
IMPLIED = {"s:s8CopyableP", "s:s9EscapableP", "s:s16SendableMetatypeP"}


class Interface:
    """The public symbols of a module, and the relationships between them."""

    def __init__(self, folder, module):
        self.symbols, self.relations = {}, set()
        for path in [folder / f"{module}.symbols.json", *sorted(folder.glob(f"{module}@*.symbols.json"))]:
            if not path.exists():
                continue
            graph = json.loads(path.read_text())
            for symbol in graph["symbols"]:
                identifier = symbol["identifier"]["precise"]
                if "::SYNTHESIZED::" in identifier or symbol["accessLevel"] not in ("public", "open"):
                    continue
                if any(name.startswith("_") for name in symbol["pathComponents"]):
                    continue
                self.symbols[identifier] = symbol
            for relation in graph["relationships"]:
                target = relation.get("targetFallback") or relation["target"]
                self.relations.add((relation["kind"], relation["source"], relation["target"], target))
        members = ("memberOf", "requirementOf", "optionalRequirementOf")
        self.parent = {source: target for kind, source, target, _ in self.relations if kind in members}

    def is_new(self, identifier):
        """Whether code may rely on the symbol: a deprecated symbol still compiles, and an unavailable one does not."""
        return not any(entry.get("isUnconditionallyUnavailable") for entry in self.symbols[identifier].get("availability", []))


def name(symbol):
    return ".".join(symbol["pathComponents"])


def declaration(symbol):
    """The declaration, without attributes that change nothing for code that uses it."""
    text = "".join(part["spelling"] for part in symbol.get("declarationFragments", []))
    for attribute in ("@discardableResult ", "@frozen ", "final "):
        text = text.replace(attribute, "")
    return " ".join(text.split())


def kind(symbol):
    return symbol["kind"]["displayName"].lower()


def removed(old, new):
    """Symbols of the old version that the new one lacks, except members of a type that is also lacking."""
    missing = {identifier for identifier in old.symbols if identifier not in new.symbols or not new.is_new(identifier)}
    return [identifier for identifier in missing if old.parent.get(identifier) not in missing]


def changes(old, new):
    """Yields the breaking changes, as sentences."""
    lost = removed(old, new)
    added = {identifier for identifier in new.symbols if identifier not in old.symbols}
    by_place = {}
    for identifier in added:
        symbol = new.symbols[identifier]
        by_place.setdefault((name(symbol), kind(symbol)), []).append(identifier)
    for identifier in lost:
        symbol = old.symbols[identifier]
        replacements = by_place.get((name(symbol), kind(symbol)), [])
        if len(replacements) == 1:
            yield f"changed: {name(symbol)}", f"{declaration(symbol)}\n    now {declaration(new.symbols[replacements[0]])}"
        else:
            yield f"removed: {name(symbol)}", declaration(symbol)
    for identifier, symbol in old.symbols.items():
        if identifier not in new.symbols:
            continue
        before, after = declaration(symbol), declaration(new.symbols[identifier])
        if symbol["accessLevel"] == "open" and new.symbols[identifier]["accessLevel"] == "public":
            yield f"no longer open: {name(symbol)}", before
        elif before != after:
            yield f"changed: {name(symbol)}", f"{before}\n    now {after}"
    for relation, source, target, label in sorted(old.relations - new.relations):
        if relation in ("conformsTo", "inheritsFrom") and source in old.symbols and source in new.symbols:
            if target in lost:
                continue  # One line says that it was removed.
            if target in IMPLIED:
                continue
            verb = "conforms to" if relation == "conformsTo" else "inherits from"
            label = name(old.symbols[target]) if target in old.symbols else label
            yield f"no longer {verb} {label}: {name(old.symbols[source])}", declaration(old.symbols[source])
    defaults = {target for relation, _, target, _ in new.relations if relation == "defaultImplementationOf"}
    for relation, source, target, _ in sorted(new.relations - old.relations):
        if relation == "requirementOf" and target in old.symbols and source in added and source not in defaults:
            yield f"new requirement: {name(new.symbols[source])}", declaration(new.symbols[source])
    for identifier in added:
        symbol = new.symbols[identifier]
        if symbol["kind"]["identifier"] == "swift.enum.case" and new.parent.get(identifier) in old.symbols:
            yield f"new case: {name(symbol)}", declaration(symbol)


def main(arguments):
    shows_added = "--added" in arguments
    old_folder, new_folder, *modules = [argument for argument in arguments if argument != "--added"]
    count = 0
    for module in modules:
        old, new = Interface(pathlib.Path(old_folder), module), Interface(pathlib.Path(new_folder), module)
        if not old.symbols:
            print(f"{module}: new")
            continue
        found = sorted(set(changes(old, new)))
        count += len(found)
        added = [symbol for identifier, symbol in new.symbols.items() if identifier not in old.symbols]
        print(f"{module}: {len(found)} breaking changes, {len(added)} additions, {len(new.symbols)} public symbols")
        for title, detail in found:
            print(f"  {title}\n    {detail}")
        if shows_added:
            for line in sorted(f"  added: {name(symbol)}\n    {declaration(symbol)}" for symbol in added):
                print(line)
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
