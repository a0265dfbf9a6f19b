"""Compiles two versions of a small module and checks the differences that script/support/api.py finds."""

import pathlib
import subprocess
import sys
import tempfile

import api

OLD = """
open class Queue {
  public init() {}
  public func add(_ name: String, count: Int = 1) {}
  public func remove(_ name: String) {}
  open func run() {}
  public func _hidden() {}
  func internalOnly() {}
}
public struct Item: Hashable, Sendable { public var name: String }
public struct Plain: Sendable {}
public struct Gone { public var first: Int, second: Int }
@_spi(Authors) public struct Hidden { public var name: String }
public enum State { case ready }
public protocol Worker { func work() }
public func same(_ value: Int) -> Int { value }
public func widened(_ value: Int) -> Int { value }
"""
NEW = """
open class Queue {
  public init() {}
  public func add(_ name: String, count: Int) {}
  public func removeAll() {}
  @available(*, deprecated, renamed: "removeAll") public func remove(_ name: String) {}
  public func run() {}
}
public struct Item: Sendable { public var name: String }
public struct Plain {}
public enum State { case ready, ended }
public protocol Worker { func work(); func rest(); func pause() }
extension Worker { public func pause() {} }
public func same(_ value: Int) -> Int { value }
public func widened(_ value: some BinaryInteger) -> Int { Int(value) }
"""
EXPECTED = {
    "changed: Queue.add(_:count:)",
    "changed: widened(_:)",
    "no longer conforms to Swift.Equatable: Item",
    "no longer conforms to Swift.Hashable: Item",
    "no longer conforms to Swift.Sendable: Plain",
    "no longer open: Queue.run()",
    "new case: State.ended",
    "new requirement: Worker.rest()",
    "removed: Gone",
}


def interface(folder, name, text):
    place = folder / name
    place.mkdir()
    (place / "Sample.swift").write_text(text)
    subprocess.run(
        ["swiftc", "-emit-module", "-module-name", "Sample", "-emit-symbol-graph", "-emit-symbol-graph-dir", place,
         "-symbol-graph-minimum-access-level", "public", "-o", place / "Sample.swiftmodule", place / "Sample.swift"],
        check=True, cwd=place)
    return api.Interface(place, "Sample")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        old, new = interface(folder, "old", OLD), interface(folder, "new", NEW)
    found = {title for title, _ in api.changes(old, new)}
    for title in sorted(EXPECTED - found):
        print(f"not found: {title}")
    for title in sorted(found - EXPECTED):
        print(f"wrongly found: {title}")
    if list(api.changes(old, old)):
        print("a version differs from itself")
        return 1
    return 0 if found == EXPECTED else 1


if __name__ == "__main__":
    sys.exit(main())
