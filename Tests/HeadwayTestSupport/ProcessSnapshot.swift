#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// The information that Linux has about this process; empty on other systems.
enum ProcessSnapshot {
  struct Child: CustomStringConvertible {
    let identifier: pid_t
    let description: String
  }

  /// Each thread: its number, name and state, and where in the kernel it waits.
  static func threads() -> [String] { threads(of: "/proc/self") }

  /// The processes that this one has started and that have not ended.
  static func children() -> [Child] {
    let identifiers = entries(of: "/proc/self/task").flatMap { thread in
      (contents(of: "/proc/self/task/\(thread)/children") ?? "").split(separator: " ").compactMap { pid_t($0) }
    }
    return identifiers.map { identifier in
      let command = (contents(of: "/proc/\(identifier)/cmdline") ?? "").split(separator: "\0").joined(separator: " ")
      let threads = threads(of: "/proc/\(identifier)")
      return Child(
        identifier: identifier, description: (["process \(identifier): \(command)"] + threads).joined(separator: "\n"))
    }
  }

  private static func threads(of process: String) -> [String] {
    entries(of: "\(process)/task").map { thread in
      let folder = "\(process)/task/\(thread)"
      // The state follows the name, which is in parentheses and can itself contain some.
      let state = contents(of: "\(folder)/stat")?.split(separator: ")").last?.split(separator: " ").first ?? "?"
      let name = contents(of: "\(folder)/comm")?.split(separator: "\n").first ?? "?"
      let place = contents(of: "\(folder)/wchan") ?? ""
      return "  thread \(thread) “\(name)” \(state) \(place)"
    }
  }

  private static func entries(of folder: String) -> [String] {
    guard let directory = opendir(folder) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names
  }

  private static func contents(of path: String) -> String? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = read(descriptor, &bytes, bytes.count)
    return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
  }
}
