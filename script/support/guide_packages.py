"""Checks that each guide declares the packages of what its programs import, in the versions that Headway requires.

A reader copies a program, and needs the product and the package of each module that is neither Headway's nor part of
the toolchain: `.product(name: "Logging", package: "swift-log")` and `.package(url: "…/swift-log", from: "…")`.
"""

import re

IMPORT = re.compile(r"^(?:@\w+(?:\(\w+\))? )?(?:public )?import (?:(?:struct|class|enum|func|protocol) )?(\w+)", re.M)


def known_packages(root):
    """The package of each module, and the address and the version of each package."""
    manifest = (root / "Package.swift").read_text()
    table = manifest[manifest.index("let packages = ["):manifest.index("]\n", manifest.index("let packages = ["))]
    modules = dict(re.findall(r'"(\w+)": "([\w.-]+)"', table))
    places = re.findall(r'url: "(https://github\.com/[\w.-]+/([\w.-]+?))(?:\.git)?", from: "([\d.]+)"', manifest)
    return modules, {package: (address, version) for address, package, version in places}


def text_faults(text, modules, places):
    blocks = re.findall(r"^ *```swift\n(.*?)^ *```", text, re.M | re.S)
    imported = {module for block in blocks for module in IMPORT.findall(block)}
    for module in sorted(imported & modules.keys()):
        package = modules[module]
        address, version = places[package]
        if f'.product(name: "{module}", package: "{package}")' not in text:
            yield f'it imports {module}, so name .product(name: "{module}", package: "{package}")'
        named = re.findall(rf'url: "{re.escape(address)}(?:\.git)?", from: "([\d.]+)"', text)
        if not named:
            yield f'it imports {module}, so name .package(url: "{address}", from: "{version}")'
        for other in set(named) - {version}:
            yield f"{package} is {other} here, and {version} in Package.swift"


def faults(root):
    modules, places = known_packages(root)
    for path in sorted(root.glob("Sources/*/*.docc/*.md")):
        for fault in text_faults(path.read_text(), modules, places):
            yield f"{path.relative_to(root)}: {fault}"
