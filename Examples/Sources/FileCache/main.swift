// A file cache: an operation that writes a file has exclusive access to it, and operations that read it share it.
import Headway
import Synchronization

/// Files in memory, which counts conflicting uses of the same file.
final class Files: Sendable {
  private struct State {
    var contents: [String: String] = [:]
    var readers: [String: Int] = [:]
    var writers: [String: Int] = [:]
    var conflictCount = 0
  }

  private let state = Mutex(State())

  var conflictCount: Int { state.withLock { $0.conflictCount } }

  func read(_ path: String) -> String? {
    state.withLock { state in
      state.readers[path, default: 0] += 1
      if state.writers[path, default: 0] > 0 { state.conflictCount += 1 }
    }
    defer { state.withLock { $0.readers[path, default: 0] -= 1 } }
    return state.withLock { $0.contents[path] }
  }

  func write(_ text: String, to path: String) {
    state.withLock { state in
      state.writers[path, default: 0] += 1
      if state.writers[path, default: 0] > 1 || state.readers[path, default: 0] > 0 { state.conflictCount += 1 }
    }
    defer { state.withLock { $0.writers[path, default: 0] -= 1 } }
    state.withLock { $0.contents[path] = text }
  }
}

struct Cache {
  let files = Files()
  private let queue = OperationQueue(name: "files")

  @discardableResult
  func store(_ text: String, at path: String) -> TaskOperation<Void> {
    queue.addTask("store \(path)", .exclusiveResources(path)) { [files] in
      files.write(text, to: path)
    }
  }

  func text(at path: String) -> TaskOperation<String?> {
    queue.addTask("read \(path)", .sharedResources(path)) { [files] in
      files.read(path)
    }
  }

  /// Needs both files and gets both or none.
  func move(from source: String, to target: String) -> TaskOperation<Void> {
    queue.addTask("move", .exclusiveResources(source, target)) { [files] in
      guard let text = files.read(source) else { return }
      files.write(text, to: target)
      files.write("", to: source)
    }
  }
}

let cache = Cache()
try await cache.store("first", at: "a").value
let reads = (0..<100).map { _ in cache.text(at: "a") }
for number in 0..<100 { cache.store("version \(number)", at: number.isMultiple(of: 2) ? "b" : "c") }
for read in reads where try await read.value != "first" { print("a read saw something else") }
try await cache.move(from: "a", to: "d").value
print("a: “\(try await cache.text(at: "a").value ?? "")”, d: “\(try await cache.text(at: "d").value ?? "")”")
print("\(cache.files.conflictCount) conflicts")
