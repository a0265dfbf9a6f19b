"""Writes the site: a landing page, the Markdown documents of the repository as pages, and the reference.

    build.py SITE [--base PATH] [ARCHIVE...]

SITE is the folder that is written. The archives are those of `docc`; they are merged to SITE/reference. PATH is where the
site will be on its host, for example `headway`: the pages of `docc` have absolute addresses, and all others have relative
ones. The pages keep the places of their documents, so links between documents need only another extension. A link to a
guide leads to its page of the reference; a link to any other file leads to the repository.
"""

import argparse
import html
import pathlib
import posixpath
import re
import shutil
import string
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = "https://github.com/headway-swift/headway"
# Where the released site is. Links from one module's guides to another's contain it.
SITE = "https://headway-swift.github.io/headway"
DOCUMENTS = ["*.md", "Docs/**/*.md", "Examples/README.md", "Benchmarks/README.md", "Models/README.md"]
FILES = ["Docs/**/*.svg", "Docs/**/*.png"]
GUIDE = re.compile(r"Sources/(\w+)/\1\.docc/(?:Types/)?([\w.]+)\.md$")
KEYWORDS = (
    "actor as async await case catch class defer do else enum extension final for func guard if import in init let "
    "nonisolated override private public repeat return self static struct super switch throw throws true false nil try "
    "var where while")
TOKEN = re.compile(
    r"(?P<comment>//[^\n]*)|(?P<string>&quot;.*?&quot;)|(?P<keyword>\b(?:" + "|".join(KEYWORDS.split()) + r")\b(?!:))")


class Repository:
    """The files that the site contains, and those that it links to."""

    def __init__(self):
        self.documents = sorted({path.relative_to(ROOT).as_posix() for form in DOCUMENTS for path in ROOT.glob(form)})
        self.files = sorted({path.relative_to(ROOT).as_posix() for form in FILES for path in ROOT.glob(form)})
        text = (ROOT / "Sources/HeadwayTool/Version.swift").read_text()
        self.version = re.search(r'packageVersion = "(.*)"', text).group(1)

    def address(self, address, document):
        """The address in the site of what a document links to."""
        if re.match(r"[a-z][a-z0-9+.-]*:|#|//", address):
            return address
        path, mark, anchor = address.partition("#")
        target = posixpath.normpath(posixpath.join(posixpath.dirname(document), path))
        up = "../" * document.count("/")
        if guide := GUIDE.match(target):
            module, name = guide.group(1).lower(), guide.group(2).lower()
            return f"{up}reference/documentation/{module}/" + ("" if name == module else f"{name}/")
        if f"{target}/README.md" in self.documents:
            target += "/README.md"
        if target in self.documents:
            return f"{up}{target.removesuffix('.md')}.html{mark}{anchor}"
        if target in self.files:
            return f"{up}{target}"
        kind = "tree" if (ROOT / target).is_dir() else "blob"
        return f"{REPOSITORY}/{kind}/main/{target}{mark}{anchor}"


def slug(heading):
    """The identifier of a heading, as hosts of Markdown form it."""
    text = html.unescape(re.sub(r"<[^>]*>", "", heading)).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def colored(code):
    return TOKEN.sub(lambda found: f'<span class="{found.lastgroup}">{found.group()}</span>', code)


def rendered(markdown, document, repository):
    """A document as HTML, with the addresses of the site."""
    run = subprocess.run(
        ["cmark-gfm", "--unsafe", "--extension", "table", "--extension", "autolink"], input=markdown, text=True,
        capture_output=True, check=True)
    text = run.stdout
    text = re.sub(r"<h([1-6])>(.*?)</h\1>", lambda h: f'<h{h[1]} id="{slug(h[2])}">{h[2]}</h{h[1]}>', text, flags=re.S)
    text = re.sub(
        r'<pre><code class="language-swift">(.*?)</code>', lambda found: f"<pre><code>{colored(found[1])}</code>", text,
        flags=re.S)
    text = re.sub(r"<table>.*?</table>", lambda table: f'<div class="wide">{table.group()}</div>', text, flags=re.S)
    replace = lambda found: f'{found[1]}="{html.escape(repository.address(html.unescape(found[2]), document))}"'
    return re.sub(r'\b(href|src)="([^"]*)"', replace, text)


def page(title, description, body, document, repository):
    template = string.Template((HERE / "page.html").read_text())
    return template.substitute(
        title=html.escape(title), description=html.escape(description), body=body, root="../" * document.count("/"),
        repository=REPOSITORY, version=repository.version, source=f"{REPOSITORY}/blob/main/{document}")


def topics(module):
    """The groups of articles on the page of a module: the titles, each with the names of its articles."""
    text = (ROOT / f"Sources/{module}/{module}.docc/{module}.md").read_text()
    for group in re.split(r"^### ", text, flags=re.M)[1:]:
        if names := re.findall(r"^- <doc:(\w+)>", group, re.M):
            yield group.splitlines()[0], names


def article(module, name):
    """A link to an article, as an entry of a list."""
    title = title_of((ROOT / f"Sources/{module}/{module}.docc/{name}.md").read_text())
    return f'<li><a href="reference/documentation/{module.lower()}/{name.lower()}/">{html.escape(title)}</a></li>'


def guides(modules):
    """The articles of all modules, in columns. The articles of the core are in the groups of its page."""
    columns = [(title, [article("Headway", name) for name in names]) for title, names in topics("Headway")]
    others = [
        article(module, name) for module in modules if module != "Headway"
        if (ROOT / f"Sources/{module}/{module}.docc").exists() for _, names in topics(module) for name in names]
    pages = [("Docs/how-do-i.md", "How do I …?"), ("Docs/tool.md", "The command-line tool"), ("Docs/lab.md", "The lab")]
    others += [f'<li><a href="{path.removesuffix(".md")}.html">{title}</a></li>' for path, title in pages]
    columns.append(("Other modules", others))
    for title, entries in columns:
        yield f"<div>\n<h3>{html.escape(title)}</h3>\n<ul>\n" + "\n".join(entries) + "\n</ul>\n</div>"


def landing(repository):
    """The landing page. Its claims, program, and figures match the README's."""
    readme = (ROOT / "README.md").read_text()
    lead = re.search(r"\*\*(Operation queues for Swift: .*?)\*\*", readme, re.S).group(1)
    lead = " ".join(lead.removeprefix("Operation queues for Swift: ").split())
    first, output = re.findall(r"```\w+\n.*?```", readme, re.S)[:2]
    claims = []
    for name, text in re.findall(r"^- \*\*(.*?)\.\*\* (.*?)(?=\n- |\n\n)", readme[:readme.index("```")], re.M | re.S):
        claims.append(f"<li><strong>{html.escape(name)}</strong> {html.escape(' '.join(text.split()))}</li>")
    modules, listed = [], []
    section = readme[readme.index("| product |"):]
    for row in section.splitlines()[2:]:
        if not row.startswith("|"):
            break
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        names = [name for name in re.findall(r"`(Headway\w*)`", cells[0]) if (ROOT / "Sources" / name).exists()]
        listed += names
        for module in names:
            note = re.sub(r"\[(.*?)\]\(.*?\)", r"\1", cells[1]).replace("`", "")
            note = note[0].upper() + note[1:]
            trait = "" if len(names) > 1 or not cells[2].strip("–") else f" Trait {cells[2].replace('`', '')}."
            modules.append(
                f'<li><strong><a href="reference/documentation/{module.lower()}/">{module}</a></strong> '
                f"<span>{html.escape(note)}.{html.escape(trait)}</span></li>")
    table = readme[readme.index("| 2 cores, Linux"):]
    to_html = lambda text: rendered(text, "README.md", repository)
    # The first sentences of the paragraph, up to the one about traits.
    requirements = re.search(r"^(Headway needs .*?\.) List\s+the traits", readme, re.M | re.S).group(1)
    body = string.Template((HERE / "index.html").read_text()).substitute(
        lead=html.escape(lead[0].upper() + lead[1:]), claims="\n".join(claims), program=to_html(first),
        output=to_html(output), benchmark=to_html(table[:table.index("\n\n")]), modules="\n".join(modules),
        guides="\n".join(guides(listed)),
        requirements=html.escape(" ".join(requirements.split())), repository=REPOSITORY, version=repository.version)
    return page("Headway", "Operation queues for Swift", body, "README.md", repository)


def title_of(markdown):
    return re.sub(r"[`*]", "", re.search(r"^# (.+)$", markdown, re.M).group(1))


def write_reference(site, archives, base):
    """Merges the archives, and makes them pages that any host can serve."""
    docc = pathlib.Path(shutil.which("swiftc")).resolve().with_name("docc")
    merged = site.with_suffix(".doccarchive")
    shutil.rmtree(merged, ignore_errors=True)
    subprocess.run(
        [docc, "merge", *archives, "--synthesized-landing-page-name", "Headway", "--output-path", merged], check=True)
    path = "/".join(part for part in (base.strip("/"), "reference") if part)
    subprocess.run(
        [docc, "process-archive", "transform-for-static-hosting", merged, "--hosting-base-path", path, "--output-path",
         site / "reference"], check=True)
    shutil.rmtree(merged)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("site", type=pathlib.Path)
    parser.add_argument("--base", default="")
    parser.add_argument("archives", nargs="*", type=pathlib.Path)
    options = parser.parse_intermixed_args()
    site, repository = options.site.resolve(), Repository()
    shutil.rmtree(site, ignore_errors=True)
    site.mkdir(parents=True)
    shutil.copy(HERE / "style.css", site)
    (site / "index.html").write_text(landing(repository))
    (site / ".nojekyll").touch()
    for document in repository.documents:
        markdown = (ROOT / document).read_text()
        target = site / f"{document.removesuffix('.md')}.html"
        target.parent.mkdir(parents=True, exist_ok=True)
        title = title_of(markdown)
        body = rendered(markdown, document, repository)
        target.write_text(page(f"{title} · Headway" if title != "Headway" else title, title, body, document, repository))
    for file in repository.files:
        (site / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / file, site / file)
    if options.archives:
        write_reference(site, options.archives, options.base)


if __name__ == "__main__":
    main()
