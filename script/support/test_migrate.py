"""Tests script/migrate: what it replaces, what it leaves alone, and what it reports."""

import contextlib
import io
import pathlib
import tempfile
import unittest

import migrate

PROJECT = {
    "Sources/App/Work.swift": '''import Foundation
@preconcurrency import FoundationNetworking; import class Foundation.Operation
public import struct Foundation.Data
// import Foundation and Foundation.Operation
let quoted = "Foundation.Operation \\(Foundation.Operation.self) \\("Foundation.OperationQueue")"
let lines = """
  import Foundation
  Foundation.Operation
  """
let raw = #"Foundation.Operation " \\(x) "#, pattern = /Foundation.Operation "/
/* Foundation.Operation /* nested */ Foundation.Operation */
class Operation: Foundation.Operation, @unchecked Sendable {
  var priority = Foundation . Operation.QueuePriority.high
  let size = Foundation.Bundle.main, own = Other.Foundation.Operation(), half = a / Foundation.QualityOfService.x / b
}
''',
    "Sources/App/Keys.swift": '''import Foundation
class Stateful: Operation {
  @objc private dynamic class func keyPathsForValuesAffectingIsReady() -> Set<String> { [#keyPath(state)] }
  @objc dynamic var state = 0
  override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> { [] }
}
final class Further: Stateful {}
extension Further {
  @objc func finish() {}
}
final class Plain: NSObject {
  @objc func tap() {}
}
class Queue: OperationQueue {
  override var progress: Progress { super.progress }
  func watch() { addObserver(self, forKeyPath: "operationCount", options: [], context: nil) }
}
func show(_ queue: Queue) { _ = queue.progress.observe(\\.fractionCompleted) { _, _ in }; _ = (queue as Any) is NSObject }
final class Session: URLSession { override var delegateQueue: OperationQueue { super.delegateQueue } }
''',
    "Tests/AppTests/WorkTests.swift": '''// A test.
#if canImport(XCTest)
  import XCTest
#endif
final class WorkTests: XCTestCase { let queue = OperationQueue() }
''',
    "Tests/AppTests/Own.swift": "import XCTest\nfunc run(_ operation: Operation, _ other: Some.OperationQueue) {}\n",
    "Tests/AppTests/Unknown.swift": "import App\nlet queue = OperationQueue()\n",
    "Sources/Windows.swift": "import Foundation\r\nlet quality = Foundation.QualityOfService.utility\r\n",
    "Package.swift": "// swift-tools-version: 6.0\nimport Foundation\n",
    "Pods/Other.swift": "import Foundation\n",
    "Scripts/run.swift": "#!/usr/bin/env swift\nimport Foundation\n",
}

WORK = '''import HeadwayFoundation
@preconcurrency import HeadwayFoundationNetworking; import class HeadwayFoundation.Operation
public import struct Foundation.Data
// import Foundation and Foundation.Operation
let quoted = "Foundation.Operation \\(Foundation.Operation.self) \\("Foundation.OperationQueue")"
let lines = """
  import Foundation
  Foundation.Operation
  """
let raw = #"Foundation.Operation " \\(x) "#, pattern = /Foundation.Operation "/
/* Foundation.Operation /* nested */ Foundation.Operation */
class Operation: HeadwayFoundation.Operation, @unchecked Sendable {
  var priority = HeadwayFoundation . Operation.QueuePriority.high
  let size = Foundation.Bundle.main, own = Other.Foundation.Operation(), half = a / HeadwayFoundation.QualityOfService.x / b
}
'''


class MigrateTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, text in PROJECT.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode())

    def run_script(self, *arguments):
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            migrate.main([str(self.folder), *arguments])
        return output.getvalue()

    def files(self):
        return {name: (self.folder / name).read_bytes().decode() for name in PROJECT}

    def test_dry_run_writes_nothing(self):
        output = self.run_script()
        self.assertEqual(self.files(), PROJECT)
        self.assertIn("Sources/App/Work.swift:12: Foundation → HeadwayFoundation: class Operation: Foundation.Operation",
                      output)
        self.assertIn("4 of 7 files would change: 5 imports and 4 qualified names replaced, 1 import added", output)

    def test_imports_and_qualified_names(self):
        self.run_script("--apply")
        files = self.files()
        self.assertEqual(files["Sources/App/Work.swift"], WORK)
        self.assertEqual(files["Sources/Windows.swift"],
                         "import HeadwayFoundation\r\nlet quality = HeadwayFoundation.QualityOfService.utility\r\n")

    def test_an_import_is_added_where_another_module_brings_the_names(self):
        self.run_script("--apply")
        self.assertEqual(self.files()["Tests/AppTests/WorkTests.swift"],
                         "// A test.\nimport HeadwayFoundation\n" + PROJECT["Tests/AppTests/WorkTests.swift"][11:])

    def test_manifests_dependencies_and_names_of_the_project_are_left_alone(self):
        self.run_script("--apply")
        for name in ["Package.swift", "Pods/Other.swift", "Scripts/run.swift", "Tests/AppTests/Own.swift",
                     "Tests/AppTests/Unknown.swift"]:
            self.assertEqual(self.files()[name], PROJECT[name])

    def test_a_second_run_changes_nothing(self):
        self.run_script("--apply")
        files = self.files()
        self.assertIn("0 of 7 files changed", self.run_script("--apply"))
        self.assertEqual(self.files(), files)

    def test_reports(self):
        reports = [line.split(": manually: ") for line in self.run_script().splitlines() if ": manually: " in line]
        found = [(place, message.split(":")[0]) for place, message in reports]
        self.assertEqual(sorted(found), sorted([
            ("Sources/App/Keys.swift:3", "found by Objective-C only"),
            ("Sources/App/Keys.swift:3", "write the name of an operation's property as a string"),
            ("Sources/App/Keys.swift:4", "the class is not Objective-C's"),
            ("Sources/App/Keys.swift:9", "the class is not Objective-C's"),
            ("Sources/App/Keys.swift:15", "the type is OperationProgress"),
            ("Sources/App/Keys.swift:16", "use observe(_"),
            ("Sources/App/Keys.swift:18", "use progress.observe { progress in … } if this is the progress of an operation"
             " or a queue"),
            ("Sources/App/Keys.swift:19", "write Foundation.OperationQueue for the type"),
            ("Tests/AppTests/Unknown.swift:2", "imports nothing that is known to export Foundation"),
            ("Package.swift:1", "add the package, and the products HeadwayFoundation and HeadwayFoundationNetworking to"
             " each target that needs them")]))

    def test_a_manifest_that_has_the_package_is_not_reported(self):
        (self.folder / "Package.swift").write_text(
            'let package = Package(name: "App", dependencies: [.package(url: "https://example.org/headway.git", from: "1.0.0")])')
        self.assertNotIn("Package.swift:1: manually", self.run_script())

    def test_tests_for_objects_are_reported(self):
        path = self.folder / "Sources/Windows.swift"
        path.write_text("import Foundation\nfunc isObject(_ queue: OperationQueue) -> Bool { queue is NSObject }\n")
        output = self.run_script()
        self.assertIn("Sources/Windows.swift:2: manually: the classes are not subclasses of NSObject", output)

    def test_the_mode_of_a_file_and_bytes_that_are_no_text_stay(self):
        path = self.folder / "Sources/Windows.swift"
        path.write_bytes(b"import Foundation // \xff\n")
        path.chmod(0o640)
        self.run_script("--apply")
        self.assertEqual(path.read_bytes(), b"import HeadwayFoundation // \xff\n")
        self.assertEqual(path.stat().st_mode & 0o777, 0o640)


unittest.main(verbosity=1)
