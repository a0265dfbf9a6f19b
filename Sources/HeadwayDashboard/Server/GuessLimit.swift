#if Dashboard
/// Slows down guessing of the password.
///
/// The guesses from one address are checked one after another, with a pause between them. Wrong guesses never stop the
/// checks, because anyone could then lock out the owner of the password.
struct GuessLimit {
  typealias Instant = ContinuousClock.Instant

  /// The time between two guesses from the same address.
  static let pause = Duration.milliseconds(100)
  /// How long a guess can wait for its turn; guesses that would wait longer are rejected without a check.
  static let maxWait = Duration.seconds(5)

  /// When the next guess from an address can be checked, if that is not immediately.
  private var turns: [String: Instant] = [:]

  /// Returns when a guess can be checked.
  ///
  /// - Parameters:
  ///   - address: The network address of the client that guesses.
  ///   - now: The current time of the monotonic clock.
  /// - Returns: The time; nil if too many guesses from the address wait.
  mutating func turn(of address: String, at now: Instant) -> Instant? {
    turns = turns.filter { $0.value > now }
    let turn = turns[address] ?? now
    guard turn - now <= Self.maxWait else { return nil }
    turns[address] = turn + Self.pause
    return turn
  }
}
#endif
