/// Work that needs only a processor.
enum Spinning {
  /// The number of loop iterations per microsecond on this processor when it is otherwise idle.
  static let turnsPerMicrosecond: Double = {
    let turns = 2_000_000
    let fastest = (0..<5).map { _ in Stopwatch.seconds { turn(turns) } }.min() ?? 1
    return Double(turns) / (fastest * 1e6)
  }()

  static func turns(microseconds: Double) -> Int { Int(microseconds * turnsPerMicrosecond) }

  /// Does the same work for the same number, however long it takes.
  @inline(never) static func turn(_ turns: Int) {
    var state = UInt64(truncatingIfNeeded: turns) | 1
    for _ in 0..<turns {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
    }
    keep(state)
  }

  /// Prevents the compiler from removing the computation of a value.
  @inline(never) @_optimize(none) private static func keep(_ value: UInt64) {}
}
