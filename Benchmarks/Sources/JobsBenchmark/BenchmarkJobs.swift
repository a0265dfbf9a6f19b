import Foundation
import HeadwayJobs
import Synchronization

/// A job of 200 bytes of JSON, or as many as requested, which is counted.
struct Count: Job {
  static let kind: JobKind = "count"
  static let counter = Counter()
  var number: Int
  var text: String

  /// The JSON is `{"number":N,"text":"xxx…"}`.
  init(_ number: Int, size: Int) {
    self.number = number
    text = String(decoding: Self.filler[..<(size - 22 - String(number).utf8.count)], as: UTF8.self)
  }

  private static let filler = [UInt8](repeating: UInt8(ascii: "x"), count: 65_536)

  func perform(in context: JobContext) async throws { Self.counter.add(number) }
}

/// A job that measures how long it has waited.
struct Timed: Job {
  static let kind: JobKind = "timed"
  static let waits = Mutex<[(number: Int, seconds: Double)]>([])
  var number: Int
  var sent: Double

  func perform(in context: JobContext) async throws {
    let seconds = Date().timeIntervalSinceReferenceDate - sent
    Self.waits.withLock { $0.append((number, seconds)) }
  }

  /// Returns how long the jobs have waited, by ascending number, and forgets it.
  static func takeWaits() -> [Double] {
    waits.withLock { waits in
      defer { waits = [] }
      return waits.sorted { $0.number < $1.number }.map(\.seconds)
    }
  }
}

/// A job that runs until its worker stops.
struct Held: Job {
  static let kind: JobKind = "held"

  func perform(in context: JobContext) async throws { try await Task.sleep(for: .seconds(86_400)) }
}

/// How many jobs have run, and the sum of their numbers.
final class Counter: Sendable {
  private let state = Mutex((count: 0, sum: 0))

  func add(_ number: Int) { state.withLock { $0 = ($0.count + 1, $0.sum + number) } }

  var value: (count: Int, sum: Int) { state.withLock { $0 } }
}
