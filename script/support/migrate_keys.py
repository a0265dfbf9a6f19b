"""Rewrites declarations in operation classes for key-value observing in Objective-C.

The Objective-C runtime finds `class func keyPathsForValuesAffectingIsReady()` by its name, and replaces the setters of
`@objc dynamic` properties. Headway calls `keyPathsForValuesAffectingValue(forKey:)`, and changes must be posted.
"""

import re

from swift_source import WORD
from swift_text import end_of_braces, line_end

AFFECTING = re.compile(
    rf"(?P<words>(?:{WORD})*)(?P<what>func|var)\s+keyPathsForValuesAffecting(?P<name>(?!Value\b)\w+)\s*"
    r"(?:\(\s*\)\s*->|:)\s*(?P<type>Set\s*<\s*\w+\s*>)\s*(?P<brace>\{)")
OVERRIDE = re.compile(r"\bfunc\s+keyPathsForValuesAffectingValue\s*\(\s*forKey\b")
PROPERTY = re.compile(rf"(?P<words>(?:{WORD})+)var\s+(?P<name>\w+)")
OBJC = re.compile(r"@objc\s+|@nonobjc\s+|\bdynamic\s+")
KEY_PATH = re.compile(r"#keyPath\s*\(\s*([\w.]+)\s*\)")
POSTS = re.compile(r"\b(?:will|did)ChangeValue\s*\(")
CAST = re.compile(r"\bas[?!]?\s+(?:NSString|NSObject|AnyHashable)\b")


def rewrite_keys(source, classes):
    """Adds the edits to the source, in the bodies of the given classes."""
    for declared in source.classes(classes):
        if declared.kind == "class":
            rewrite_affecting(source, declared)
        for found in source.members(declared, PROPERTY):
            rewrite_property(source, found)
        for found in KEY_PATH.finditer(source.code, declared.begin, declared.end):
            rewrite_key_path(source, found, classes)


def rewrite_affecting(source, declared):
    """Keeps the functions and adds the override that calls them."""
    has_override = OVERRIDE.search(source.code, declared.begin, declared.end)
    cases, end = [], None
    for found in source.members(declared, AFFECTING):
        if not re.search(r"\b(?:class|static)\b", found["words"]):
            continue
        if has_override:
            body = source.code[declared.begin:declared.end]
            if len(re.findall(rf"\bkeyPathsForValuesAffecting{found['name']}\b", body)) > 1:
                source.rewritten.append((found.start(), found.end()))
            continue
        end = end_of_braces(source.code, found.start("brace"))
        strip(source, found)
        source.rewritten.append((found.start(), found.end()))
        if re.sub(r"\s", "", found["type"]) != "Set<String>":
            source.edit(found.start("type"), found.end("type"), "Set<String>", "key")
        for cast in CAST.finditer(source.code, found.start("brace"), end):
            # The code has blanks for a string, too.
            source.edit(len(source.text[:cast.start()].rstrip()), cast.end(), "", "key")
        # The override of the superclass calls an overridden function.
        if not re.search(r"\boverride\b", found["words"]):
            call = "()" if found["what"] == "func" else ""
            cases.append(f'case "{key(found["name"])}": return keyPathsForValuesAffecting{found["name"]}{call}')
    if cases:
        source.edit(end, end, override(source, declared, end, cases), "key")


def key(name):
    return name if name[:2].isupper() else name[0].lower() + name[1:]


def override(source, declared, end, cases):
    outer = source.indent(declared.begin)
    inner = source.indent(end)
    step = inner.removeprefix(outer) or "    "
    access = "".join(f"{word} " for word in ("open", "public") if re.search(rf"\b{word}\b", declared.words))
    lines = [
        "", "", f"{inner}{access}override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {{",
        f"{inner}{step}switch key {{", *(f"{inner}{step}{case}" for case in cases),
        f"{inner}{step}default: return super.keyPathsForValuesAffectingValue(forKey: key)", f"{inner}{step}}}",
        f"{inner}}}"]
    return source.ending.join(lines)


def strip(source, found):
    """Removes the attributes of Objective-C."""
    for word in OBJC.finditer(source.code, found.start("words"), found.end("words")):
        source.edit(word.start(), word.end(), "", "key")


def rewrite_property(source, found):
    """Posts the changes of a property that Objective-C observed, unless its accessors post them."""
    words = found["words"]
    if not re.search(r"@objc\b(?!\()", words):
        return
    code, end = source.code, line_end(source.code, found.end())
    brace = code.find("{", found.end())
    has_braces = brace >= 0 and (brace < end or not code[end:brace].strip())
    posts = has_braces and POSTS.search(code, brace, end_of_braces(code, brace))
    if not posts:
        if not re.search(r"\bdynamic\b", words):
            return
        before, after = (f'{kind}ChangeValue(forKey: "{found["name"]}")' for kind in ("will", "did"))
        if not has_braces:
            position = found.end() + len(code[found.end():end].rstrip())
            source.edit(position, position, f" {{ willSet {{ {before} }} didSet {{ {after} }} }}", "key")
        elif "=" in code[found.end():brace] and not re.match(r"\s*(?:willSet|didSet)\b", code[brace + 1:]):
            return
        else:
            post(source, brace, before, after)
    strip(source, found)


def post(source, begin, before, after):
    """Adds the calls to the accessors of a property, whose braces begin at `begin`."""
    end = end_of_braces(source.code, begin)
    accessors = {}
    for found in re.compile(r"\b(set|willSet|didSet)\b\s*(?:\(\s*\w+\s*\)\s*)?(\{)").finditer(source.code, begin, end):
        if source.depth(found.start()) == source.depth(begin) + 1:
            accessors[found[1]] = found.end()
    if "set" in accessors:
        insert(source, accessors["set"], [before, f"defer {{ {after} }}"])
    elif "willSet" in accessors or "didSet" in accessors:
        for name, call in (("willSet", before), ("didSet", after)):
            if name in accessors:
                insert(source, accessors[name], [call])
            else:
                source.edit(begin + 1, begin + 1, f" {name} {{ {call} }}", "key")


def insert(source, position, statements):
    """Adds statements after an opening brace, on separate lines if the next statement is on a separate line."""
    rest = source.code[position:]
    blank = rest[:len(rest) - len(rest.lstrip())]
    if "\n" in blank:
        text = "".join(f"{source.ending}{blank.rpartition(chr(10))[2]}{statement}" for statement in statements)
    else:
        text = "".join(f" {statement};" for statement in statements)
    source.edit(position, position, text, "key")


def rewrite_key_path(source, found, classes):
    """Replaces an operation's key path with its text, because the class is not visible to Objective-C."""
    names = found[1].split(".")
    if names[0] in classes or names[0] in ("self", "Self"):
        names.pop(0)
    if names and names[0][0].islower():
        source.edit(found.start(), found.end(), '"' + ".".join(names) + '"', "key")
