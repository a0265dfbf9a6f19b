import Headway
import HeadwayLines
import Synchronization

/// The ways to read a file, for tests that try them all.
enum Form: CaseIterable, Sendable {
  case forEachLine, forEachLineStoppable, forEachBatch, batches, lines, enumerateLines

  /// The delivered lines, and the error if reading failed.
  struct Reading: Sendable {
    var lines: [SeenLine] = []
    var error: (any Error)?

    var readerError: LineReaderError? { error as? LineReaderError }
  }

  /// Reads all of a file.
  ///
  /// The strings of `lines` have no numbers and offsets; they are filled in by counting.
  func read(_ reader: LineReader, asStrings: Bool = false) async -> Reading {
    var reading = Reading()
    do {
      switch self {
      case .forEachLine:
        try reader.forEachLine { reading.lines.append(try see($0, asStrings)) }
      case .forEachLineStoppable:
        try reader.forEachLine { line, _ in reading.lines.append(try see(line, asStrings)) }
      case .forEachBatch:
        try reader.forEachBatch { batch, _ in
          for position in batch.indices { reading.lines.append(try see(batch[position], asStrings)) }
        }
      case .batches:
        for try await batch in reader.batches {
          try batch.forEach { reading.lines.append(try see($0, asStrings)) }
        }
      case .lines:
        for try await line in reader.lines {
          reading.lines.append(SeenLine(bytes: Array(line.utf8), number: reading.lines.count + 1, byteOffset: -1))
        }
      case .enumerateLines:
        return await enumerate(reader, asStrings)
      }
    } catch {
      reading.error = error
    }
    return reading
  }

  private func enumerate(_ reader: LineReader, _ asStrings: Bool) async -> Reading {
    let lines = Mutex<[SeenLine]>([])
    let box = Box(lines: lines)
    return await withCheckedContinuation { continuation in
      reader.enumerateLines { line in
        let seen = try see(line, asStrings)
        box.lines.withLock { $0.append(seen) }
      } completion: { result in
        var reading = Reading(lines: box.lines.withLock { $0 })
        switch result {
        case .success(let count): precondition(count == reading.lines.count)
        case .failure(let error): reading.error = error
        }
        continuation.resume(returning: reading)
      }
    }
  }

  private final class Box: Sendable {
    let lines: Mutex<[SeenLine]>
    init(lines: consuming sending Mutex<[SeenLine]>) { self.lines = lines }
  }
}

private func see(_ line: borrowing LineReader.Line, _ asString: Bool) throws -> SeenLine {
  var seen = SeenLine(line)
  if asString { seen.bytes = Array(try line.string.utf8) }
  return seen
}
