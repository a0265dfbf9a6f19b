"""The rules of an accessibility checker, axe-core, for every page."""

import os
import pathlib

from .tools import SCHEMES, WIDTHS, pages

# The script of the checker: see script/check-dashboard.
AXE = os.environ.get("AXE", "")


def check(driver, program, said):
    if not AXE:
        said("NOT CHECKED: accessibility, because axe-core could not be installed")
        return
    script = pathlib.Path(AXE).read_text() + (
        "; return axe.run(document, { resultTypes: ['violations'] }).then((result) => result.violations.map("
        "(one) => [one.id, one.nodes.slice(0, 3).map((node) => node.html.slice(0, 200) + ' ' + node.failureSummary)]))")
    all_pages = pages(driver, program)
    for scheme in SCHEMES:
        driver.emulate({"prefers-color-scheme": scheme})
        for width, size in WIDTHS.items():
            driver.resize(*size)
            for name, address in all_pages.items():
                driver.open(address)
                found = driver.run(script)
                assert not found, (name, scheme, width, found)
                # The browser's log contains the 404 of the page that does not exist.
                driver.errors()
    driver.emulate({"prefers-color-scheme": "light"})
    driver.resize(*WIDTHS["wide"])
    said(f"axe-core has no findings on {len(all_pages)} pages")
