"""Prints the options that a compiler needs to load the modules of a built package, one per line.

    module_options.py SOURCES PRODUCTS

SOURCES is the folder of the package, and PRODUCTS is the folder in which `swift build` left its modules. The options name
the folder of the modules, the module maps of the modules in C, and the folders with headers of the system's libraries.
"""

import pathlib
import re
import subprocess
import sys


def module_options(sources, products):
    """The list of options."""
    # The module maps of C modules, in the package and in its dependencies, written manually or generated.
    maps = [*sources.glob("Sources/*/module.modulemap"), *products.glob("*.build/module.modulemap")]
    for place in ("*", "*/include"):
        maps += products.parents[1].glob(f"checkouts/*/Sources/{place}/module.modulemap")
    options = ["-I", str(products / "Modules")]
    for path in sorted(maps):
        options += ["-Xcc", f"-fmodule-map-file={path}"]
    for library in sorted(set(re.findall(r'pkgConfig: "(\S+)"', (sources / "Package.swift").read_text()))):
        # pkg-config, and libraries that the package was not built with, can be absent.
        try:
            found = subprocess.run(["pkg-config", "--cflags-only-I", library], capture_output=True, text=True).stdout
        except FileNotFoundError:
            break
        for option in found.split():
            options += ["-Xcc", option]
    return options


if __name__ == "__main__":
    print(*module_options(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])), sep="\n")
