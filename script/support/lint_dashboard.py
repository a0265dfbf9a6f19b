"""Looks at the templates of the dashboard: no script or style in a page, no text that is not escaped, no style that
nothing uses."""

import pathlib
import re
import sys

folder = pathlib.Path(sys.argv[1])
files = {path.name: path.read_text() for path in sorted(folder.iterdir())}
problems = []

for name, text in files.items():
    for number, line in enumerate(text.splitlines(), start=1):
        if line != line.rstrip() or "\t" in line:
            problems.append(f"{name}:{number}: spaces at the end, or tabs")
    if not text.endswith("\n"):
        problems.append(f"{name}: no line end at the end")
    if re.search(r"\binnerHTML\b|insertAdjacentHTML|document\.write|\beval\(", text):
        problems.append(f"{name}: makes markup or code of text")
    for address in re.findall(r"https?://[^\"' )]+", text):
        if address != "http://www.w3.org/2000/svg":
            problems.append(f"{name}: names another host: {address}")
    if not name.endswith(".mustache"):
        continue
    if re.search(r"<script>|<style|\sstyle=|\son[a-z]+=", text):
        problems.append(f"{name}: script or style in the page itself")
    if "{{{" in text or "{{&" in text:
        problems.append(f"{name}: text that is not escaped")
    # A value that is not between quotation marks could end the attribute.
    if re.search(r"=\{\{", text):
        problems.append(f"{name}: an attribute without quotation marks")

# The names of states and levels are values.
values = {"succeeded", "failed", "cancelled", "running", "waiting", "scheduled", "retrying", "held", "working", "dead", "stopped",
          "good", "warning", "bad", "main", "unmet", "warn"}
# The names of bands and lines in charts.
values |= {"retrying", "median", "slow", "slowest"}
others = "\n".join(text for name, text in files.items() if not name.endswith(".css"))
for selector in re.findall(r"([^{}]+)\{", files["style.css"]):
    for kind, name in re.findall(r"([.#])([a-z][a-z-]*)", selector):
        if name not in values and not re.search(rf"\b{re.escape(name)}\b", others):
            problems.append(f"style.css: nothing is called {kind}{name}")

print("\n".join(problems) or "The templates are tidy.")
sys.exit(1 if problems else 0)
