"""Checks that expressions that mix bitwise operators with other operators contain parentheses.

    python3 script/support/precedence.py [PATH…]

Languages disagree about these operators: `a * b >> 20` shifts first in Swift and multiplies first in C, `a & 8 | b & 7`
is read from left to right in PostgreSQL, and `a & b == c` compares first in C. Therefore, parentheses are required
between `& | ^ << >>` and any other bitwise or arithmetic operator. The same applies to `??` in Swift, to `||`, `->`
and `~` in SQL, and to comparisons in C. The text of each string literal is checked as SQL.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LANGUAGES = dict.fromkeys([".c", ".h", ".cpp", ".hpp", ".js", ".pml"], "c") | {".swift": "swift", ".py": "python"}
COMMENT = {"c": r"//[^\n]*|/\*[\s\S]*?\*/", "python": r"#[^\n]*", "sql": r"--[^\n]*|/\*[\s\S]*?\*/"}
COMMENT["swift"] = COMMENT["c"]
STRING = {"swift": r'#*"""|#*"', "python": r"(?i:[rbf]{0,2})(?:\"{3}|'{3}|\"|')", "c": "[\"'`]", "sql": "['\"]"}
OPERATOR = {
    "swift": r"[-+*/%&|^~<>=!?.]+", "python": r"<<=?|>>=?|\*\*|//|[-+*/%&|^~]=?|[<>=!]+",
    "c": r"<<=?|>>=?|->|&&|\|\||\+\+|--|[-+*/%&|^~<>=!]=?=?", "sql": r"[-#]>>?|\|\||&&|<<|>>|[<>=!]+|[-+*/%&|^~#]",
}
CAST = r"::\s*\w+(?:\[\])?"
OPERAND = r"(?:\.?[\w$`]+[?!]?)+"
ARITHMETIC = {"+", "-", "*", "/", "%", "//", "&+", "&-", "&*"}
BITS = {"&", "|", "^", "<<", ">>", "&<<", "&>>"}
SPECIAL = {"c": BITS, "python": BITS, "swift": BITS | {"??"}, "sql": BITS | {"||", "&&", "->", "#", "~"}}
COMPARISONS = {"c": {"==", "!=", "===", "!==", "<", ">", "<=", ">="}}
# A string with one of these words is SQL. In other strings, operators have spaces around them, as in fragments of SQL.
SQL = re.compile(r"\b(?:SELECT|UPDATE|INSERT|DELETE|WHERE|SET|CASE|AND|OR|VALUES|FROM|IS|excluded)\b")
BLOCK = re.compile(r"^ *```(swift|python|sql|c)\n(.*?)^ *```", re.MULTILINE | re.DOTALL)


class Scanner:
    """Reads the expressions of a text, and notes expressions that mix operators."""

    def __init__(self, text, language, line=1):
        self.text, self.language, self.line, self.faults = text, language, line, []
        self.mixable = ARITHMETIC | SPECIAL[language] | COMPARISONS.get(language, set())
        self.token = re.compile(
            rf"(?P<ignored>\s+|{CAST if language == 'sql' else '(?!)'}|{COMMENT[language]})"
            rf"|(?P<string>{STRING[language]})|(?P<operand>{OPERAND})"
            rf"|(?P<open>[(\[{{])|(?P<close>[)\]}}])|(?P<operator>{OPERATOR[language]})|(?P<other>.)")

    def scan_all(self):
        place = 0
        while place < len(self.text):
            place = self.scan(place)
        return self.faults

    def scan(self, place):
        """Reads up to the bracket that closes an expression and returns the position after it."""
        operators, has_operand = {}, False
        while place < len(self.text):
            token = self.token.match(self.text, place)
            kind, text, place = token.lastgroup, token.group(), token.end()
            if kind == "close":
                break
            if kind in ("open", "string", "operand"):
                # A bracket after an operand belongs to it: a call, an index or a closure.
                if has_operand and kind != "open":
                    self.check(operators)
                    operators = {}
                has_operand = True
                if kind != "operand":
                    place = self.scan(place) if kind == "open" else self.scan_string(token)
            elif kind == "operator" and not has_operand:
                if (text, self.language) == ("~", "sql"):
                    operators["prefix ~"] = token.start()
            elif kind == "operator" and text in self.mixable | {"->>", "#>", "#>>"} and self.is_binary(token):
                operators["->" if self.language == "sql" and text[1:2] == ">" and text[0] in "-#" else text] = \
                    token.start()
                has_operand = False
            elif kind != "ignored":
                self.check(operators)
                operators, has_operand = {}, False
        self.check(operators)
        return place

    def is_binary(self, token):
        """In Swift, an operator between two operands has spaces on both sides; `swift format` requires them."""
        around = self.text[token.start() - 1] + self.text[token.end():token.end() + 1]
        return self.language != "swift" or len(around.strip()) == 0

    def check(self, operators):
        found = set(operators)
        special = found & SPECIAL[self.language]
        if (special and len(found - {"prefix ~"}) > 1) or ("prefix ~" in found and found & ARITHMETIC):
            place = min(operators.values())
            self.faults.append((self.line + self.text.count("\n", 0, place), " ".join(operators)))

    def scan_string(self, token):
        """Reads a string literal, checks its text as SQL, and returns the position after it."""
        start, language = token.end(), self.language
        marks = token.group().lstrip("rRbBfF") if language == "python" else token.group()
        hashes = marks.count("#")
        end = marks.lstrip("#") + "#" * hashes
        inner = {"swift": "\\" + "#" * hashes + "(", "c": "${" if end == "`" else None}.get(language)
        if language == "python" and "f" in token.group()[:2].lower():
            inner = "{"
        place, parts = start, []
        while place < len(self.text) and not self.text.startswith(end, place):
            if inner and self.text.startswith(inner, place) and not self.text.startswith("{{", place):
                before, place = place, self.scan(place + len(inner))
                parts.append("x" + "\n" * self.text.count("\n", before, place))
            elif self.text[place] == "\\" and not hashes and language != "sql":
                parts.append(" \n" if self.text[place + 1:place + 2] == "\n" else " ")
                place += 2
            elif self.text[place] == "\n" and end in "\"'" and language != "sql":
                break  # Not a string: for example, an apostrophe in a comment of a preprocessor.
            else:
                parts.append(self.text[place])
                place += 1
        if language != "sql":
            text = "".join(parts)
            if not SQL.search(text):
                text = re.sub(r"(?<! )[-+*/%&|^~#<>]+|[-+*/%&|^~#<>]+(?! )", ",", text)
            self.faults += Scanner(text, "sql", self.line + self.text.count("\n", 0, start)).scan_all()
        return place + len(end)


def faults(path):
    """The lines of a file with a fault, and the operators."""
    text = path.read_text(errors="replace")
    parts = [(LANGUAGES.get(path.suffix), text, 1)]
    if path.suffix == ".md":
        parts = [(block[1], block[2], text.count("\n", 0, block.start(2)) + 1) for block in BLOCK.finditer(text)]
    elif path.suffix in ("", ".sh") and text.startswith("#!"):
        parts = [("c", sum_[1], text.count("\n", 0, sum_.start()) + 1) for sum_ in re.finditer(r"\(\((.*?)\)\)", text)]
    return sorted({fault for language, part, line in parts if language
                   for fault in Scanner(part, language, line).scan_all()})


# Expressions with their languages: the first ones need parentheses, the last ones don't.
MIXED = {
    "swift": [
        "a * b >> 20", "a & b | c", "f(x: 1 << n - 1)", "x = a\n  | b << 2", "x ^ x &>> 3", "[a &* 31 &+ b >> 8]",
        "a ?? b + c",
        r'"flags = flags & \(a) | excluded.flags & 7"', r'"\(a << 1 | b)"', '"""\nSELECT a|b+c\n"""', '#"a & b | c"#',
        '"SELECT ~a + b"', "\"WHERE a || 'x' || b - 1 = c\"", '"SELECT f(~a + b), a ~ b || c"', '"a->>1 || b IS NULL"',
        "a { b } | c & d",
    ],
    "c": ["a & b == c", "x << 8 | y", "`${a | b & c}`", 'f("a & b + c")', "a + b << 1", "a ^ b & 1"],
    "python": ["a & b | c", "f(a << 1 + b)", 'f"{a | b & c}"', "'a & b | c'", 'r"""SELECT a\n| b + c"""', "a * b >> 2"],
}
CLEAR = {
    "swift": [
        "(a * b) >> 20", "a | b | c\n  | d", "a * b + c", "let a = b & c == d && e | f > g", "a & b, c | d",
        "f(&a, b | c)",
        "any A & B", "x ?? y", "a ?? b == c", "a | b\nc & d", "Set<Array<Int>>() | a", '"a | b, then c & d"', "a & ~b",
        '"[--one | --two] & more"',
        '"SELECT (a | b) & c, ~d FROM e WHERE f->\'g\'->>\'h\' = i::text AND j || k || l = m"',
        '"flags = (flags & 8) | (excluded.flags & 7)"', "a << 1 // + 2", '"a \\" | b"',
    ],
    "c": ["(a & b) == c", "a | b && c & d", "x = a & b; y = c | d", "*a = &b", "s->x | t->y", "'|' + '&'"],
    "python": ["(a & b) | c", "a | b | c", "a & b == c", '"%s | %s" % (a, b)', "# a & b | c", "f(a | b, c & d)"],
}


def test():
    """Fails unless exactly the faults of the examples are found."""
    for examples, is_mixed in ((MIXED, True), (CLEAR, False)):
        for language, texts in examples.items():
            for text in texts:
                if bool(Scanner(text, language).scan_all()) != is_mixed:
                    fault = "missed" if is_mixed else "refused"
                    sys.exit(f"script/support/precedence.py: {fault} in {language}: {text}")


def main(paths):
    test()
    command = ["git", "ls-files", "-z", "--", *paths]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    count = 0
    for name in filter(None, names):
        path = ROOT / name
        if path.is_symlink() or path == pathlib.Path(__file__).resolve() or not path.is_file():
            continue
        if path.suffix in (*LANGUAGES, ".md", "", ".sh"):
            for line, operators in faults(path):
                print(f"{name}:{line}: {operators}: write parentheses")
                count += 1
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
