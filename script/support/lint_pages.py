"""Looks at the sources of the lab's pages: tidy lines, no style that nothing uses, no markup made of text."""

import pathlib
import re
import sys

folder = pathlib.Path(sys.argv[1])
files = {path.name: path.read_text() for path in sorted(folder.iterdir())}
problems = []

for name, text in files.items():
    for number, line in enumerate(text.splitlines(), start=1):
        if len(line) > 120:
            problems.append(f"{name}:{number}: more than 120 characters")
        if line != line.rstrip() or "\t" in line:
            problems.append(f"{name}:{number}: spaces at the end, or tabs")
    if not text.endswith("\n"):
        problems.append(f"{name}: no line end at the end")
    if name.endswith(".js") and len(text.splitlines()) > 200:
        problems.append(f"{name}: more than 200 lines")
    if re.search(r"\binnerHTML\b|\bouterHTML\b|insertAdjacentHTML|document\.write|\beval\(", text):
        problems.append(f"{name}: makes markup or code of text")
    # The SVG namespace is not an address that is opened.
    for address in re.findall(r"https?://[^\"' )]+", text):
        if address != "http://www.w3.org/2000/svg":
            problems.append(f"{name}: names another host: {address}")
    if name.endswith(".html") and re.search(r"<script>|<style|\sstyle=|\son[a-z]+=", text):
        problems.append(f"{name}: script or style in the page itself")

others = "\n".join(text for name, text in files.items() if not name.endswith(".css"))
for selector in re.findall(r"([^{}]+)\{", files["style.css"]):
    for kind, name in re.findall(r"([.#])([a-z][a-z-]*)", selector):
        if not re.search(rf"\b{re.escape(name)}\b", others):
            problems.append(f"style.css: nothing is called {kind}{name}")

# Every element that a module looks up is in the page or is created by a module.
for name, text in files.items():
    for identifier in re.findall(r'byId\("([a-z-]+)"\)', text):
        if f'id="{identifier}"' not in files["index.html"]:
            problems.append(f"{name}: no element is called {identifier}")

print("\n".join(problems) or "The pages are tidy.")
sys.exit(1 if problems else 0)
