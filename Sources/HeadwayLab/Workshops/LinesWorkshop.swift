#if Lab
import Foundation
import Headway
import HeadwayLines
import Hummingbird
import Synchronization

/// Searches a huge log while the memory of the process is measured.
final class LinesWorkshop: Sendable {
  struct Event: Encodable {
    var type = "lines"
    var phase: Phase
    var message: String
    var bytes = 0
    var size = 0
    var matches = 0
    var lines = 0
    var seconds = 0.0
    /// The memory of the process in bytes, ten times per second.
    var memory: [Int] = []
    var samples: [String] = []
  }

  private struct StartRequest: Decodable {
    var megabytes: Int
    var text: String
  }

  private struct Found {
    var bytes = 0
    var matches = 0
    var lines = 0
    var samples: [String] = []
  }

  private let journal: Journal
  private let folder: String
  /// Controls the search that is running.
  let turn = Turn(queue: Headway.OperationQueue(name: "lines"))
  // Protected by its lock.
  private let found = Mutex(Found())

  init(_ journal: Journal, folder: String) {
    self.journal = journal
    self.folder = folder
  }

  func addRoutes(to router: Router<BasicRequestContext>) {
    router.post("api/lines/start") { [self] request, context in
      let wanted = try await request.decode(as: StartRequest.self, context: context)
      guard 1...4_000 ~= wanted.megabytes, !wanted.text.isEmpty, wanted.text.utf8.count <= 200 else {
        throw HTTPError(.unprocessableContent)
      }
      guard turn.take() else { return HTTPResponse.Status.conflict }
      Task(executorPreference: turn.queue) { await self.run(wanted) }
      return .accepted
    }
    router.post("api/lines/cancel") { [self] _, _ in
      turn.cancel()
      return HTTPResponse.Status.accepted
    }
  }

  private func run(_ wanted: StartRequest) async {
    defer { turn.giveBack() }
    let path = "\(folder)/log-\(wanted.megabytes).txt"
    let size = wanted.megabytes * 1_000_000
    do {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      if !FileManager.default.fileExists(atPath: path) {
        publish(Event(phase: .generating, message: "Generating a log of \(wanted.megabytes) MB …", size: size))
        let writing = Headway.BlockOperation()
        writing.addExecutionBlock { [weak writing] in
          try SampleLog.write(to: path, size: size) { writing?.isCancelled ?? true }
        }
        turn.add([writing])
        try await writing.untilSucceeded()
        if writing.isCancelled { throw CancellationError() }
      }
      try await search(path, wanted.text, size: size)
    } catch is CancellationError {
      publish(Event(phase: .cancelled, message: "Cancelled."))
    } catch {
      publish(Event(phase: .failed, message: "\(error)"))
    }
  }

  private func search(_ path: String, _ text: String, size: Int) async throws {
    found.withLock { $0 = Found() }
    let start = ContinuousClock.now
    let search = TaskOperation { [self] in
      for try await batch in LineReader(path: path).batches {
        var new = Found()
        try batch.forEach { line in
          new.lines += 1
          new.bytes += line.bytes.count + 1
          guard line.contains(text) else { return }
          new.matches += 1
          if new.samples.count < 8 { new.samples.append(try line.string) }
        }
        add(new)
      }
    }
    turn.add([search])
    var memory = [ProcessMemory.resident]
    while !search.isFinished {
      try await Task.sleep(for: .milliseconds(100))
      memory.append(ProcessMemory.resident)
      publish(event(.running, "Searching …", size: size, start, memory))
    }
    try await search.untilFinished()
    if let error = search.error { throw error }
    if search.isCancelled { throw CancellationError() }
    publish(event(.finished, "The end of the file is reached.", size: size, start, memory))
  }

  private func add(_ new: Found) {
    found.withLock { found in
      found.bytes += new.bytes
      found.matches += new.matches
      found.lines += new.lines
      found.samples.append(contentsOf: new.samples.prefix(max(0, 8 - found.samples.count)))
    }
  }

  private func event(
    _ phase: Phase, _ message: String, size: Int, _ start: ContinuousClock.Instant, _ memory: [Int]
  ) -> Event {
    let found = found.withLock { $0 }
    return Event(
      phase: phase, message: message, bytes: found.bytes, size: size, matches: found.matches, lines: found.lines,
      seconds: (.now - start).inSeconds, memory: memory.suffix(300), samples: found.samples)
  }

  private func publish(_ event: Event) { journal.append(event, key: "lines") }
}

/// A log with one special line in each megabyte.
enum SampleLog {
  /// Writes the log, one megabyte at a time, and removes it if it is incomplete.
  static func write(to path: String, size: Int, isCancelled: () -> Bool) throws {
    let partial = path + ".part"
    // After the last step, this file no longer exists.
    defer { try? FileManager.default.removeItem(atPath: partial) }
    guard FileManager.default.createFile(atPath: partial, contents: nil) else {
      throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: partial])
    }
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: partial))
    defer { try? file.close() }
    let block = block()
    for number in 0..<max(1, size / 1_000_000) {
      if isCancelled() { return }
      let last = "2026-03-01T12:00:00 ERROR disk \(number) reports a bad sector "
      let padding = String(repeating: ".", count: 1_000_000 - block.count - last.utf8.count - 1)
      try file.write(contentsOf: block + Data("\(last)\(padding)\n".utf8))
    }
    try FileManager.default.moveItem(atPath: partial, toPath: path)
  }

  /// Returns lines that fill a megabyte, with room for one more line.
  private static func block() -> Data {
    var text = ""
    var number: UInt64 = 1
    while text.utf8.count < 999_800 {
      number = number &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      let status = [200, 200, 200, 304, 404, 500][Int(number >> 33) % 6]
      text += "2026-03-01T12:00:00 GET /stops/\(number >> 40) \(status) \(number >> 52) ms\n"
    }
    return Data(text.utf8)
  }
}

/// The memory that the process uses.
enum ProcessMemory {
  /// The number of bytes in physical memory.
  ///
  /// 0 if the system does not report it.
  static var resident: Int {
    // The numbers of pages: in total, and in physical memory.
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    return text.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map {
      $0 * Int(sysconf(Int32(_SC_PAGESIZE)))
    }
      ?? 0
  }
}
#endif
