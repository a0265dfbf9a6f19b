import Synchronization

/// The time that the bodies need without any overhead: one plain thread per processor, which claims the next body as
/// soon as it is free.
enum IdealTime {
  static func seconds(turns: [Int]) -> Double {
    let next = Counted()
    let done = Semaphore()
    return Stopwatch.seconds {
      for _ in 0..<Processors.count {
        PlainThread.start {
          while case let position = next.take(), position < turns.count { Spinning.turn(turns[position]) }
          done.signal()
        }
      }
      for _ in 0..<Processors.count { done.wait() }
    }
  }

  private final class Counted: Sendable {
    private let next = Atomic(0)
    func take() -> Int { next.wrappingAdd(1, ordering: .relaxed).oldValue }
  }
}
