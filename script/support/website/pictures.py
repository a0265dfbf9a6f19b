"""Opens the pages of the site in a headless Chromium, and writes pictures of the landing page.

    pictures.py SITE [FOLDER]

Fails if a page is wider than a phone, requests another host, or lacks a file. With FOLDER, writes site-WIDTH-SCHEME.png.
"""

import functools
import http.server
import pathlib
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from webdriver import Driver  # noqa: E402 (the folder has to be known first)

WIDTHS = {380: 800, 800: 640, 1280: 640}
PHONE = 380


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves the site without printing each request."""

    def log_message(self, *arguments):
        pass


def check(driver, site, address):
    """Yields what is wrong with the pages, except those of DocC, on a narrow screen."""
    driver.resize(PHONE, 800)
    for path in sorted(site.rglob("*.html")):
        name = path.relative_to(site).as_posix()
        if name.startswith("reference/"):
            continue
        driver.open(f"{address}/{name}")
        width = driver.run("return document.documentElement.scrollWidth")
        if width > PHONE:
            yield f"{name} is {width} pixels wide on a screen of {PHONE}"
        others = driver.run(
            "return performance.getEntriesByType('resource').map(one => one.name)"
            ".filter(one => !one.startsWith(location.origin))")
        if others:
            yield f"{name} requests {others}"
        broken = driver.run(
            "return [...document.images].filter(one => !one.complete || !one.naturalWidth).map(one => one.src)")
        if broken:
            yield f"{name} lacks {broken}"


def draw(driver, address, folder):
    for scheme in ("light", "dark"):
        driver.emulate({"prefers-color-scheme": scheme})
        for width, height in WIDTHS.items():
            driver.resize(width, height)
            driver.open(f"{address}/index.html")
            driver.picture(folder / f"site-{width}-{scheme}.png")


def main(site, folder):
    handler = functools.partial(Quiet, directory=site)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, tempfile.TemporaryDirectory() as profile:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        driver = Driver(profile)
        try:
            faults = list(check(driver, site, address))
            if folder:
                draw(driver, address, folder)
        finally:
            driver.quit()
            server.shutdown()
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    arguments = [pathlib.Path(argument).resolve() for argument in sys.argv[1:]]
    sys.exit(main(arguments[0], arguments[1] if len(arguments) > 1 else None))
