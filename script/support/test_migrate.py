"""Tests script/migrate: what it replaces, what it leaves alone, and what it reports."""

import contextlib
import io
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

import migrate
import migrate_reports
import replaced_files

ROOT = pathlib.Path(__file__).resolve().parents[2]

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
    "Tests/AppTests/Own.swift": "@testable import App\nimport XCTest\nfunc run(_ operation: Operation, _ other: Some.OperationQueue) {}\n",
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
let quoted = "Foundation.Operation \\(HeadwayFoundation.Operation.self) \\("Foundation.OperationQueue")"
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
        self.assertIn("4 of 7 files would change: 5 imports and 5 qualified names replaced, 1 import added", output)

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
            ("Sources/App/Keys.swift:9", "the class is not Objective-C's"),
            ("Sources/App/Keys.swift:15", "the type is OperationProgress"),
            ("Sources/App/Keys.swift:16", "use observe(_"),
            ("Sources/App/Keys.swift:18", "use progress.onChange { progress in … } if this is the progress of an operation"
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

    def test_recommended_members_exist(self):
        sources = "".join(path.read_text() for path in (ROOT / "Sources").glob("Headway*/**/*.swift"))
        messages = [message for _, message in migrate_reports.IN_CLASSES + migrate_reports.IN_FILES]
        names = {name for message in messages for name in re.findall(r"\b([a-z]\w+)(?:\(| \{)", message)}
        self.assertEqual(names, {"keyPathsForValuesAffectingValue", "observe", "onChange"})
        for name in names:
            self.assertRegex(sources, rf"func {name}\b")


class FileTests(unittest.TestCase):
    """Single files, before and after the script."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def migrated(self, files, *, is_applied=True):
        """Writes the files. Returns the output and all files afterward."""
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            migrate.main([str(self.folder), *(["--apply"] if is_applied else [])])
        return output.getvalue(), {name: (self.folder / name).read_bytes() for name in files}

    def assert_becomes(self, old, new):
        _, files = self.migrated({"Sources/App/A.swift": old})
        self.assertEqual(files["Sources/App/A.swift"].decode(), new)
        self.migrated({})
        self.assertEqual((self.folder / "Sources/App/A.swift").read_bytes().decode(), new)


class FormTests(FileTests):
    def test_forms_of_imports(self):
        for lead in ["", "@preconcurrency ", "public ", "@_exported ", "@preconcurrency public ", "internal ",
                     "@_implementationOnly ", "@preconcurrency\n", "  ", "/* words */ ", "import Dispatch; ",
                     "@_spi(Some) fileprivate "]:
            with self.subTest(lead):
                self.assert_becomes(f"{lead}import Foundation // words\n", f"{lead}import HeadwayFoundation // words\n")
        self.assert_becomes("import class Foundation.Operation\nimport struct Foundation.Data\n",
                            "import class HeadwayFoundation.Operation\nimport struct Foundation.Data\n")
        self.assert_becomes("#if canImport(Foundation)\nimport Foundation\n#endif\n",
                            "#if canImport(Foundation)\nimport HeadwayFoundation\n#endif\n")
        self.assert_becomes("import Dispatch\rimport Foundation\r", "import Dispatch\rimport HeadwayFoundation\r")
        self.assert_becomes("import FoundationEssentials\n", "import FoundationEssentials\n")

    def test_a_byte_order_mark_stays_first(self):
        self.assert_becomes("\ufeffimport Foundation\n", "\ufeffimport HeadwayFoundation\n")
        self.assert_becomes("\ufeffimport XCTest\nlet queue = OperationQueue()\n",
                            "\ufeffimport HeadwayFoundation\nimport XCTest\nlet queue = OperationQueue()\n")

    def test_code_in_strings(self):
        self.assert_becomes(
            'import Foundation\nprint("Foundation.Operation \\(Foundation.OperationQueue.current?.name ?? "\\(Foundation.'
            'Operation.self)") Foundation.Operation")\nlet raw = #"\\(Foundation.Operation) \\#(Foundation.Operation.self)"#\n'
            'let lines = """\n  Foundation.Operation \\(\n    Foundation.Operation.self) " Foundation.Operation\n  """\n',
            'import HeadwayFoundation\nprint("Foundation.Operation \\(HeadwayFoundation.OperationQueue.current?.name ?? '
            '"\\(HeadwayFoundation.Operation.self)") Foundation.Operation")\n'
            'let raw = #"\\(Foundation.Operation) \\#(HeadwayFoundation.Operation.self)"#\n'
            'let lines = """\n  Foundation.Operation \\(\n    HeadwayFoundation.Operation.self) " Foundation.Operation\n'
            '  """\n')

    def test_a_nested_name_hides_only_in_its_type(self):
        _, files = self.migrated({
            "Sources/App/A.swift": "import Foundation\npublic protocol Graph { associatedtype Operation }\n"
                                   "struct Sums: Graph { enum Operation { case plus }; var last: Operation? }\n",
            "Tests/AppTests/A.swift": "@testable import App\nimport XCTest\nfinal class Mock: Operation {}\n",
            "Tests/AppTests/B.swift": "@testable import App\nimport XCTest\nextension Sums { var o: Operation? { nil } }\n",
        })
        self.assertIn(b"import HeadwayFoundation\n", files["Tests/AppTests/A.swift"])
        self.assertNotIn(b"HeadwayFoundation", files["Tests/AppTests/B.swift"])

    def test_an_export_counts_only_for_those_who_import_it(self):
        test = "@testable import App\nimport XCTest\nfinal class Mock: Operation {}\n"
        _, files = self.migrated({
            "Sources/Other/A.swift": "@_exported import Foundation\n", "Sources/App/A.swift": "import Foundation\n",
            "Sources/Base/A.swift": "@_exported import Other\n", "Tests/AppTests/A.swift": test,
            "Tests/BaseTests/A.swift": test.replace("App", "Base")})
        self.assertIn(b"import HeadwayFoundation\n", files["Tests/AppTests/A.swift"])
        self.assertNotIn(b"HeadwayFoundation", files["Tests/BaseTests/A.swift"])

    def test_the_names_of_libraries_are_imported_one_by_one(self):
        use = "import Foundation\nimport Work\nlet operation = BlockOperation()\n"
        library = "import Foundation\nopen class BlockOperation: Foundation.Operation {}\nclass OperationQueue {}\n"
        for folder in ["Sources/Work", ".build/checkouts/work/Sources/Work", "Vendor/work/Sources/Work"]:
            with self.subTest(folder):
                _, files = self.migrated({
                    f"{folder}/Block.swift": library, "Sources/App/A.swift": use,
                    "Sources/App/B.swift": "import Foundation\nimport Work\nlet queue = OperationQueue()\n"})
                self.assertEqual(files["Sources/App/A.swift"].decode(), "import class Work.BlockOperation\n"
                                 + use.replace("import Foundation", "import HeadwayFoundation"))
                self.assertNotIn(b"import class", files["Sources/App/B.swift"])
                (self.folder / folder / "Block.swift").unlink()
        _, files = self.migrated({
            "Sources/Work/Block.swift": library, "Tests/WorkTests/A.swift": "import Foundation\n@testable import Work\n"
            "let queue = OperationQueue()\n"})
        self.assertIn(b"@testable import class Work.OperationQueue\n", files["Tests/WorkTests/A.swift"])

    def test_what_is_left_out_is_named(self):
        text = "import Foundation\n"
        left = {"Vendor/A.swift": text, "App/SourcePackages/B.swift": text, "App/Carthage/C.swift": text,
                ".build-old/D.swift": text, "DerivedData/E.swift": text, "out/workspace-state.json": "{}",
                "out/F.swift": text, "G.swift": text.encode("utf-16"), "H.swift": "#!/usr/bin/swift\nimport Foundation\n"}
        output, files = self.migrated(left | {"App/A.swift": text})
        for name, content in left.items():
            self.assertEqual(files[name], content.encode() if isinstance(content, str) else content)
        for name in ["Vendor", "App/SourcePackages", "App/Carthage", "DerivedData", "out", "G.swift", "H.swift"]:
            self.assertIn(f"{name}: left out: ", output)
        self.assertEqual(files["App/A.swift"], b"import HeadwayFoundation\n")


class ObservationTests(FileTests):
    """What Objective-C observed."""

    def test_key_paths_that_affect_a_property(self):
        old = """import Foundation

open class Stateful: Operation {
    @objc private dynamic class func keyPathsForValuesAffectingIsReady() -> Set<String> { [#keyPath(state)] }
    @objc class func keyPathsForValuesAffectingIsFinished() -> Set<NSObject> {
        return ["state" as NSObject]
    }

    @objc public dynamic class var keyPathsForValuesAffectingIsExecuting: Set<String> { [#keyPath(Stateful.state)] }

    @objc dynamic var state = 0
}
final class Further: Stateful {
    override class func keyPathsForValuesAffectingIsReady() -> Set<String> { [] }
}
"""
        new = """import HeadwayFoundation

open class Stateful: Operation {
    private class func keyPathsForValuesAffectingIsReady() -> Set<String> { ["state"] }
    class func keyPathsForValuesAffectingIsFinished() -> Set<String> {
        return ["state"]
    }

    public class var keyPathsForValuesAffectingIsExecuting: Set<String> { ["state"] }

    open override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
        switch key {
        case "isReady": return keyPathsForValuesAffectingIsReady()
        case "isFinished": return keyPathsForValuesAffectingIsFinished()
        case "isExecuting": return keyPathsForValuesAffectingIsExecuting
        default: return super.keyPathsForValuesAffectingValue(forKey: key)
        }
    }

    var state = 0 { willSet { willChangeValue(forKey: "state") } didSet { didChangeValue(forKey: "state") } }
}
final class Further: Stateful {
    override class func keyPathsForValuesAffectingIsReady() -> Set<String> { [] }
}
"""
        output, files = self.migrated({"A.swift": old})
        self.assertEqual(files["A.swift"].decode(), new)
        self.assertIn("0 places to change manually", output)
        again, _ = self.migrated({})
        self.assertIn("0 of 1 file changed", again)
        self.assertIn("0 places to change manually", again)

    def test_accessors_of_observed_properties(self):
        self.assert_becomes("""import Foundation
class Stateful: Operation {
  @objc private dynamic var state: Int {
    get { lock.withLock { raw } }
    set {
      lock.withLock { raw = newValue }
    }
  }
  @objc dynamic var one: Int { get { raw } set { raw = newValue } }
  @objc dynamic var two = 0 { didSet { print("set") } }
  @objc override dynamic var isReady: Bool { super.isReady }
  @objc var three: Int { get { raw } set { willChangeValue(forKey: "three"); raw = newValue } }
}
""", """import HeadwayFoundation
class Stateful: Operation {
  private var state: Int {
    get { lock.withLock { raw } }
    set {
      willChangeValue(forKey: "state")
      defer { didChangeValue(forKey: "state") }
      lock.withLock { raw = newValue }
    }
  }
  var one: Int { get { raw } set { willChangeValue(forKey: "one"); defer { didChangeValue(forKey: "one") }; raw = newValue } }
  var two = 0 { willSet { willChangeValue(forKey: "two") } didSet { didChangeValue(forKey: "two"); print("set") } }
  override var isReady: Bool { super.isReady }
  var three: Int { get { raw } set { willChangeValue(forKey: "three"); raw = newValue } }
}
""")

    def test_other_classes_stay(self):
        text = """class Plain: NSObject {
  @objc class func keyPathsForValuesAffectingTitle() -> Set<String> { [#keyPath(name)] }
  @objc dynamic var name = ""
}
"""
        self.assert_becomes("import Foundation\n" + text, "import HeadwayFoundation\n" + text)

    def test_what_is_not_rewritten_is_reported(self):
        output, _ = self.migrated({"A.swift": """import Foundation
class Stateful: Operation {
  class func keyPathsForValuesAffectingIsReady() -> NSSet { NSSet(object: "state") }
  @objc dynamic var state = { 0 }()
}
extension Stateful {
  @objc class func keyPathsForValuesAffectingIsFinished() -> Set<String> { ["state"] }
  override var dependencies: [Operation] { [] }
}
"""})
        places = [line.split(":")[1] for line in output.splitlines() if ": manually: " in line]
        self.assertEqual(places, ["3", "4", "7", "8"])


class ReplacementTests(unittest.TestCase):
    """All files are replaced, or none."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.paths = [self.folder / name for name in ["a.swift", "b.swift", "c.swift"]]
        for path in self.paths:
            path.write_bytes(b"old")
        self.contents = {path: (b"old", b"new") for path in self.paths}

    def assert_contents(self, expected):
        self.assertEqual([path.read_bytes() for path in self.paths], [expected] * 3)
        self.assertEqual(sorted(self.folder.iterdir()), self.paths)

    def test_modes_and_bytes_that_are_no_text_stay(self):
        self.paths[0].chmod(0o640)
        self.contents[self.paths[0]] = (b"old", b"\xff")
        replaced_files.replace_files(self.contents)
        self.assertEqual(self.paths[0].read_bytes(), b"\xff")
        self.assertEqual(self.paths[0].stat().st_mode & 0o777, 0o640)
        self.assertEqual(self.paths[1].read_bytes(), b"new")

    @unittest.skipIf(os.getuid() != 0, "only root can give files away")
    def test_owners_stay(self):
        os.chown(self.paths[1], 1, 2)
        replaced_files.replace_files(self.contents)
        self.assertEqual((self.paths[1].stat().st_uid, self.paths[1].stat().st_gid), (1, 2))

    def test_an_error_restores_the_files(self):
        replace, calls = os.replace, []

        def failing(*arguments):
            calls.append(arguments)
            if len(calls) == 3:
                raise PermissionError(13, "Permission denied", str(arguments[0]))
            replace(*arguments)

        with unittest.mock.patch("os.replace", failing), self.assertRaises(replaced_files.ReplacementError):
            replaced_files.replace_files(self.contents)
        self.assertEqual(len(calls), 6)
        self.assert_contents(b"old")

    def test_a_signal_restores_the_files(self):
        replace, calls = os.replace, []

        def interrupted(*arguments):
            replace(*arguments)
            calls.append(arguments)
            if len(calls) == 2:
                signal.raise_signal(signal.SIGTERM)

        with unittest.mock.patch("os.replace", interrupted), self.assertRaises(SystemExit):
            replaced_files.replace_files(self.contents)
        self.assert_contents(b"old")

    def test_a_file_that_changed_meanwhile_stays(self):
        self.contents[self.paths[2]] = (b"older", b"new")
        with self.assertRaises(replaced_files.ReplacementError):
            replaced_files.replace_files(self.contents)
        self.assert_contents(b"old")

    @unittest.skipIf(os.getuid() == 0, "root can write everywhere")
    def test_a_folder_that_is_read_only(self):
        self.check_read_only()

    @unittest.skipIf(os.getuid() != 0, "only root can become another user")
    def test_a_folder_that_is_read_only_for_another_user(self):
        os.chown(self.folder, 65534, 65534)
        for path in self.paths:
            os.chown(path, 65534, 65534)
        child = os.fork()
        if child == 0:
            try:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
                self.check_read_only()
                os._exit(0)
            finally:
                os._exit(1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)

    def check_read_only(self):
        other = self.folder / "other"
        other.mkdir()
        (other / "d.swift").write_bytes(b"old")
        other.chmod(0o555)
        with self.assertRaises(replaced_files.ReplacementError):
            replaced_files.replace_files(self.contents | {other / "d.swift": (b"old", b"new")})
        other.chmod(0o755)
        (other / "d.swift").unlink()
        other.rmdir()
        self.assert_contents(b"old")

    def test_the_script_writes_before_it_prints(self):
        """A reader that closes the output, and a locale without the characters, stop nothing."""
        for path in self.paths:
            path.write_bytes(b"import Foundation // caf\xe9\nlet name = Foundation.Operation.self\n")
        script = ROOT / "script/migrate"
        environment = os.environ | {"PYTHONIOENCODING": "ascii"}
        with subprocess.Popen([script, self.folder, "--apply"], stdout=subprocess.PIPE, env=environment) as process:
            process.stdout.close()
        self.assertEqual(process.returncode, 0)
        self.assert_contents(b"import HeadwayFoundation // caf\xe9\nlet name = HeadwayFoundation.Operation.self\n")


unittest.main(verbosity=1)
