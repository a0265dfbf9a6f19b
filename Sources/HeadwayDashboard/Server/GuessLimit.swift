#if Dashboard
/// Slows down guessing of passwords.
///
/// The guesses from one address are checked one after another, with a pause between them. The same applies to the
/// guesses for one name, with a shorter pause, so that one address can't use up all turns of a person. Wrong guesses
/// never stop the checks, because anyone could then lock out the owner of the password.
struct GuessLimit {
  typealias Instant = ContinuousClock.Instant

  /// The time between two guesses from the same address.
  static let pause = Duration.milliseconds(100)
  /// The time between two guesses for the same name.
  static let pauseOfName = Duration.milliseconds(20)
  /// How long a guess can wait for its turn; guesses that would wait longer are rejected without a check.
  static let maxWait = Duration.seconds(5)

  private enum Key: Hashable {
    case address(String)
    case name(String)

    var pause: Duration {
      switch self {
      case .address: GuessLimit.pause
      case .name: GuessLimit.pauseOfName
      }
    }
  }

  private static let maxNameLength = 100

  /// When the next guess from an address, or for a name, can be checked, if that is not immediately.
  private var turns: [Key: Instant] = [:]

  /// Returns when a guess can be checked.
  ///
  /// - Parameters:
  ///   - address: The network address of the client that guesses.
  ///   - name: The name that was sent with the guess; nil if there is none.
  ///   - now: The current time of the monotonic clock.
  /// - Returns: The time; nil if too many guesses from the address, or for the name, wait.
  mutating func turn(of address: String, name: String? = nil, at now: Instant) -> Instant? {
    turns = turns.filter { $0.value > now }
    let keys = [Key.address(address)] + (name.map { [Key.name(String($0.prefix(Self.maxNameLength)))] } ?? [])
    let turn = keys.map { turns[$0] ?? now }.max() ?? now
    guard turn - now <= Self.maxWait else { return nil }
    for key in keys {
      // A guess that waits because of its address delays only the guesses from this address.
      let last = if case .address = key { turn } else { turns[key] ?? now }
      turns[key] = last + key.pause
    }
    return turn
  }
}
#endif
