#if SQLite
import Foundation
import HeadwayTestSupport
import Synchronization
import Testing

/// The built tool, run as a child process.
final class Tool: Sendable {
  /// How a run of the tool ended.
  struct Run {
    var status: Int32
    /// The lines of standard output.
    var output: [String]
    /// The lines of standard error.
    var errors: [String]

    /// The objects of `--progress json`; fails if a line is not an object.
    func objects() throws -> [[String: Any]] {
      try output.map { line in
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], "\(line)")
      }
    }
  }

  /// The lines of standard output, as they arrive.
  let output: AsyncStream<String>
  /// The lines of standard error, as they arrive; empty if it was redirected.
  let errors: AsyncStream<String>
  private let status: AsyncStream<Int32>
  private let identifier: pid_t

  /// Starts the tool.
  ///
  /// - Parameters:
  ///   - arguments: The arguments, without the tool's name.
  ///   - folder: The working folder of the process.
  ///   - environment: Additional variables. The tool also inherits the variables of this process.
  ///   - launcher: A program, with its arguments, that starts the tool. It gets the tool's path and arguments.
  ///   - standardError: The destination of standard error, if not ``errors``. It is closed here once the tool has it.
  /// - Throws: An error if the tool is missing or can't be started.
  init(
    _ arguments: [String], in folder: TemporaryFolder, environment: [String: String] = [:],
    launcher: [String] = [], standardError: FileHandle? = nil
  ) throws {
    let process = Process()
    let command = try launcher + [Self.executable().path] + arguments
    process.executableURL = URL(fileURLWithPath: command[0])
    process.arguments = Array(command.dropFirst())
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.currentDirectoryURL = URL(fileURLWithPath: folder.path)
    process.standardInput = FileHandle.nullDevice
    let (outputPipe, errorPipe) = (Pipe(), Pipe())
    process.standardOutput = outputPipe
    process.standardError = standardError ?? errorPipe
    let (status, ending) = AsyncStream.makeStream(of: Int32.self)
    self.status = status
    process.terminationHandler = { process in
      ending.yield(process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus)
      ending.finish()
    }
    try process.run()
    identifier = process.processIdentifier
    try standardError?.close()
    output = Self.lines(of: outputPipe.fileHandleForReading)
    errors = standardError == nil ? Self.lines(of: errorPipe.fileHandleForReading) : AsyncStream { $0.finish() }
  }

  /// Sends a signal.
  func send(_ signal: Int32) { kill(identifier, signal) }

  #if os(Linux)
  /// Returns whether the tool has a file open.
  func hasOpen(_ path: String) -> Bool {
    let folder = "/proc/\(identifier)/fd"
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.contains { (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")) == path }
  }

  /// Returns whether a thread of the tool is in the system call that reads a file.
  func isReading(_ path: String) -> Bool {
    #if arch(x86_64)
    let read = "0"
    #else
    let read = "63"
    #endif
    let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(identifier)/task")) ?? []
    return threads.contains { thread in
      // The number of the system call, and its arguments: first, the file descriptor.
      let call = try? String(contentsOfFile: "/proc/\(identifier)/task/\(thread)/syscall", encoding: .utf8)
      guard let words = call?.split(separator: " "), words.count > 1, words[0] == read,
        let descriptor = Int(words[1].dropFirst(2), radix: 16)
      else { return false }
      let link = "/proc/\(identifier)/fd/\(descriptor)"
      return (try? FileManager.default.destinationOfSymbolicLink(atPath: link)) == path
    }
  }
  #endif

  /// Waits for the end.
  ///
  /// - Returns: The exit status, or the negative number of the signal that ended the tool; and the unread rest of its
  ///   output and errors.
  func finish() async -> Run {
    await withTaskCancellationHandler {
      async let output = output.reduce(into: []) { $0.append($1) }
      async let errors = errors.reduce(into: []) { $0.append($1) }
      let status = await status.first { _ in true } ?? -SIGKILL
      return await Run(status: status, output: output, errors: errors)
    } onCancel: {
      // No thread waits for the tool any longer.
      send(SIGKILL)
    }
  }

  /// Runs the tool from start to end.
  static func run(_ arguments: String..., in folder: TemporaryFolder) async throws -> Run {
    try await run(arguments, in: folder)
  }

  static func run(_ arguments: [String], in folder: TemporaryFolder) async throws -> Run {
    try await Tool(arguments, in: folder).finish()
  }

  /// Reads on its own thread, because reading blocks.
  private static func lines(of file: FileHandle) -> AsyncStream<String> {
    let (lines, continuation) = AsyncStream.makeStream(of: String.self)
    Thread.detachNewThread {
      var rest = Data()
      while true {
        let data = file.availableData
        rest += data
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
          continuation.yield(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
          rest = rest[(end + 1)...]
        }
        if data.isEmpty { break }
      }
      // The process, which is not released, keeps the pipe.
      try? file.close()
      if !rest.isEmpty { continuation.yield(String(decoding: rest, as: UTF8.self)) }
      continuation.finish()
    }
    return lines
  }

  // MARK: The executable

  /// The tool is built into the folder of the tests: next to their executable on Linux, and next to the bundle, some
  /// folders up, on macOS.
  static func executable() throws -> URL {
    let tests = ["/proc/self/exe"] + CommandLine.arguments.filter { $0.hasPrefix("/") }
    var searched: [String] = []
    for path in tests {
      var folder = URL(fileURLWithPath: path).resolvingSymlinksInPath()
      for _ in 0..<4 {
        folder.deleteLastPathComponent()
        let candidate = folder.appendingPathComponent("headway")
        searched.append(candidate.path)
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: candidate.path, isDirectory: &isFolder), !isFolder.boolValue {
          return candidate
        }
      }
    }
    let places = searched.joined(separator: ", ")
    try #require(Bool(false), "The executable headway is not where the tests are; looked for \(places).")
    throw CocoaError(.fileNoSuchFile)
  }
}
#endif
