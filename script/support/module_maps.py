"""Prints the module maps that a compiler needs to load the modules of a package, one a line.

    module_maps.py SOURCES PRODUCTS

SOURCES is the folder of the package, and PRODUCTS is the folder in which `swift build` left its modules.
"""

import pathlib
import sys


def module_maps(sources, products):
    """The maps of modules in C: those of the package, and those of its dependencies, which have one or were given one."""
    found = [*sources.glob("Sources/*/module.modulemap"), *products.glob("*.build/module.modulemap")]
    for place in ("*", "*/include"):
        found += products.parents[1].glob(f"checkouts/*/Sources/{place}/module.modulemap")
    return sorted(found)


if __name__ == "__main__":
    for path in module_maps(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])):
        print(path)
