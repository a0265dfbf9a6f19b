"""Finds the places that only a person can change."""

import re

OPERATIONS = ["Operation", "BlockOperation", "OperationQueue"]

# Places in classes of operations and queues, and in files that use them.
IN_CLASSES = [
    (r"\b(?:class|static)\s+(?:\w+\s+)*(?:func|var)\s+keyPathsForValuesAffecting(?!Value\b)\w+",
     "found by Objective-C only: override keyPathsForValuesAffectingValue(forKey:)"),
    (r"\boverride\b[^\n{]*\bvar\s+progress\s*:\s*(?:Foundation\s*\.\s*)?Progress\b",
     "the type is OperationProgress"),
    (r"@objc\b|@objcMembers\b",
     "the class is not Objective-C's: remove the attribute, and post changes of the property"),
    (r"#selector\b", "the class is not Objective-C's: use a closure"),
    (r"\b(?:value|setValue|mutableSetValue)\s*\([^\n]*\bforKey(?:Path)?:", "there is no key-value coding")]
IN_EXTENSIONS = [
    (r"\boverride\b", "the class is not Objective-C's: override members in the class, not in an extension")]
IN_FILES = [
    (r"\baddObserver\s*\([^\n]*\bforKeyPath:",
     "use observe(_:options:changeHandler:) if this observes an operation or a queue"),
    (r"\bfunc\s+observeValue\s*\(\s*forKeyPath\b",
     "use observe(_:options:changeHandler:) if this observes an operation or a queue"),
    (r"#keyPath\s*\(", "write the name of an operation's property as a string"),
    (r"\bNS(?:Block|Invocation)?Operation(?:Queue)?\b", "the old name of a class"),
    (r"\bobserve\s*\(\s*\\(?:OperationProgress|Progress)?\s*\.\s*fractionCompleted\b",
     "use progress.onChange { progress in … } if this is the progress of an operation or a queue"),
    (r"\b(?:is|as[?!]?)\s+NSObject\b",
     "the classes are not subclasses of NSObject: use NSObjectProtocol or AnyObject for an operation or a queue"),
    (r"\boverride\b[^\n{]*\bvar\s+delegateQueue\s*:\s*OperationQueue\b", "write Foundation.OperationQueue for the type")]
OF_OTHERS = re.compile(r"\bCK(?!Operation\b)\w*Operation\b|\bCKOperation\b")


def report(source, classes, uses_operations):
    """Reports the places that the edits of the source do not change."""
    declarations = source.classes(classes)
    bodies = [(declared.start, declared.end) for declared in declarations]
    extensions = [(declared.start, declared.end) for declared in declarations if declared.kind == "extension"]
    patterns = [(pattern, message, bodies) for pattern, message in IN_CLASSES]
    patterns += [(pattern, message, extensions) for pattern, message in IN_EXTENSIONS]
    if uses_operations or bodies:
        patterns += [(pattern, message, [(0, len(source.code))]) for pattern, message in IN_FILES]
    changed = source.rewritten + [edit[:2] for edit in source.edits]
    reported = set()
    for pattern, message, ranges in patterns:
        for begin, end in ranges:
            for found in re.compile(pattern).finditer(source.code, begin, end):
                # The attribute of a member that has its own report needs none.
                line = source.line(found.start())
                key = (line, pattern) if pattern.startswith("#") else line
                if key in reported or any(first <= found.start() < last for first, last in changed):
                    continue
                source.reports.append((found.start(), message))
                reported.add(key)
    if found := OF_OTHERS.search(source.code):
        source.reports.append((found.start(), f"{found[0]} is one of Foundation's operations, and stays one"))
