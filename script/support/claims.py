"""Finds claims in the README, the features and the guides that something does not exist, although it does.

    - “There is no `RateLimit`.” A name that a negation refers to must not be a public declaration, a module or a
      command.
    - Under a heading such as *What has no counterpart*, no line contains a link to a symbol.
    - In the table of a comparison, Headway's column does not deny a feature of the list below.
    - A sentence that denies a feature of the list, describes how to build it yourself, or recommends another system for
      it.

The list contains features that documents have denied, or that readers build themselves if they don't find them. Add to
it what becomes available. ALLOWED contains the beginnings of sentences that are right, each with the reason.
"""

import re

# A feature: the words for it, and the name of a declaration or a module that proves that it exists.
FEATURES = {
    "durable jobs": (
        r"durable|surviv\w+ (?:a |the )?(?:crash|restart|end|process|deploy)\w*|several machines|between machines"
        r"|store it before", "JobWorker"),
    "schedules": (r"\bcron\b|periodically|schedules?\b(?! of)", "CronExpression"),
    "the dashboard": (r"on a web page|dashboard", "JobsDashboard"),
    "the manual clock": (r"manual clock|(?:this|the test's|a) clock", "ManualClock"),
    "timeouts": (
        r"time ?outs?\b|limit (?:the )?time|time limits?\b", "OperationPolicy"),
    "retries": (r"\bretr(?:y|ies|ied)\b|backoff", "RetryPolicy"),
    "exclusive resources": (
        r"exclude each other|mutual(?:ly)? exclusi\w+|exclusive(?:ly)?\b", "OperationPolicy"),
    "rate limits": (r"rate limits?|requests per second", "RateLimit"),
    "limits by key": (r"per (?:host|customer|tenant)|by key", "KeyPolicy"),
    "coalescing": (r"debounc\w+|throttl\w+|coalesc\w+", "CoalescingPolicy"),
    "metrics and tracing": (r"open ?telemetry|\botel\b|metrics|distributed tracing", "HeadwayMetrics"),
}
HEADWAY = r"(?:Headway(?:'s (?:operations?|queues?|jobs?))?|(?:the|a|an) (?:operation|queue|library)s?|it|there)"
NEGATED = re.compile(
    rf"\b{HEADWAY} (?:does not|doesn't|do not|don't|cannot|can't|lacks?|ha(?:s|ve) no|is not|isn't|are not|aren't"
    r"|is no)\b"
    r"|\bnot (?:in|part of|yet in|available in) Headway\b|\bunlike Headway\b", re.I)
# Advice to build something that exists, or to look for it elsewhere.
DETOUR = re.compile(
    r"\buse (?:Oban|Sidekiq|River|Polly|DBOS|Temporal|a task (?:that|which)|another (?:library|system)|your own)\b"
    r"|\bstore it before you accept it\b|\b(?:yourself|manually) (?:write|store|limit|retry|delay)\b"
    r"|\bform a chain\b|\b(?:write|build) (?:it|this|one) yourself\b", re.I)
DIRECT = re.compile(
    r"\b(?:[Tt]here (?:is|are) no|ha(?:s|ve) no|do(?:es)? not have|do(?:es)?n't have|lacks?|without a|no such)"
    r" (?:\w+ )?(?:``([\w./():]+)``|`([\w./():]+)`)")
UNAVAILABLE = re.compile(r"^#+ .*\b(?:no counterpart|not in Headway|what is missing|not supported)\b", re.I | re.M)
ALLOWED = {}
DECLARATION = re.compile(
    r"^\s*(?:@\w+(?:\([^)\n]*\))? )*public (?:(?:final|static|class|nonisolated|mutating|convenience|consuming|borrowing"
    r"|private\(set\)|package\(set\)|internal\(set\)) )*"
    r"(?:class|struct|enum|actor|protocol|func|var|let|typealias|case|macro) `?(\w+)", re.M)
OPEN_TYPE = re.compile(r"^\s*open (?:class|func|var) (\w+)", re.M)


def public_names(root):
    """The names of the package that users can write: declarations, modules, and commands of the tool."""
    names = set()
    for path in root.glob("Sources/Headway*/**/*.swift"):
        text = path.read_text()
        names.update(DECLARATION.findall(text), OPEN_TYPE.findall(text))
        names.update(re.findall(r'commandName: "([\w-]+)"', text))
    manifest = root / "Package.swift"
    names.update(re.findall(r'\.library\(name: "(\w+)"', manifest.read_text()) if manifest.exists() else [])
    return names


def sentences(text):
    """Yields each sentence and the position of its first character, outside of code blocks."""
    blank = lambda found: re.sub(r"[^\n]", " ", found[0])
    text = re.sub(r"^ *```.*?^ *```", blank, text, flags=re.M | re.S)
    for paragraph in re.finditer(r"(?:^(?!\s*$|\||#).*\n?)+", text, re.M):
        position = paragraph.start()
        for part in re.split(r"(?<=[.!?:])\s+(?=[A-Z`*])", paragraph[0]):
            position = text.index(part, position)
            yield " ".join(part.split()), position


def sentence_faults(text, names):
    for sentence, position in sentences(text):
        if any(allowed in sentence for allowed in ALLOWED):
            continue
        for found in DIRECT.finditer(sentence):
            name = re.split(r"[./(]", found[1] or found[2])
            if next((part for part in reversed(name) if part and ":" not in part), "") in names:
                yield position, f"“{found[0]}”: this exists"
        if NEGATED.search(sentence) or DETOUR.search(sentence):
            for feature, (words, _) in FEATURES.items():
                if denied(sentence, words):
                    yield position, f"“{sentence[:90]}…”: Headway has {feature}"


def denied(sentence, words):
    """Whether a feature is what a sentence denies: its words follow the negation, in the same clause, or the advice."""
    if DETOUR.search(sentence):
        return re.search(words, sentence, re.I)
    for found in NEGATED.finditer(sentence):
        clause = re.split(r"[;:,]| (?:because|if|when|until|unless|before|after|while) ", sentence[found.end():])[0]
        if re.search(words, clause[:60], re.I):
            return True
    return False


def section_faults(text):
    """Links to symbols in a section about what does not exist."""
    for heading in UNAVAILABLE.finditer(text):
        level = len(heading[0]) - len(heading[0].lstrip("#"))
        end = re.compile(rf"^#{{1,{level}}} ", re.M).search(text, heading.end())
        body = text[heading.end():end.start() if end else len(text)]
        for line in re.finditer(r"^\|.*``(\w[\w/().:]*)``.*$|^\|.*`(addTask\(\w+:\))`.*$", body, re.M):
            place = heading.end() + line.start()
            yield place, f"“{heading[0].lstrip('# ')}” lists {line[1] or line[2]}, which exists"


def table_faults(text):
    """Rows of a comparison that deny a feature of Headway."""
    for header in re.finditer(r"^\|(.*)\|\n\|[ :|-]+\n((?:\|.*\n?)+)", text, re.M):
        columns = [cell.strip() for cell in header[1].split("|")]
        headway = [index for index, name in enumerate(columns) if name.startswith("Headway")]
        for row in re.finditer(r"^\|(.*)\|$", header[2], re.M):
            cells = [cell.strip() for cell in row[1].split("|")]
            for index in headway:
                if index == 0 or index >= len(cells) or not re.fullmatch(r"no|none|–|—|not yet", cells[index], re.I):
                    continue
                for feature, (words, _) in FEATURES.items():
                    if re.search(words, cells[0], re.I):
                        yield header.start(2) + row.start(), f"“{cells[0]}: {cells[index]}”: Headway has {feature}"


def text_faults(text, names):
    found = [*sentence_faults(text, names), *section_faults(text), *table_faults(text)]
    for position, fault in sorted(found):
        yield text.count("\n", 0, position) + 1, fault


def faults(root):
    names = public_names(root)
    for feature, (_, proof) in FEATURES.items():
        if proof not in names:
            yield f"script/support/claims.py: there is no {proof}, which is the proof of a feature: {feature}"
    for path in [root / "README.md", root / "Docs/features.md", *sorted(root.glob("Sources/*/*.docc/*.md"))]:
        for line, fault in text_faults(path.read_text(), names):
            yield f"{path.relative_to(root)}:{line}: {fault}"
