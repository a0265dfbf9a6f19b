/// A signal or sleep that a job waits for between two steps, without occupying a worker.
public enum JobWait: Hashable, Codable, Sendable, CustomStringConvertible {
  /// A signal with this name, or the time limit if no signal arrives.
  case signal(String)
  /// The end of a sleep with this name.
  case sleep(String)

  /// The name of the signal or sleep.
  public var name: String {
    switch self {
    case .signal(let name), .sleep(let name): name
    }
  }

  /// A description of the wait, for example `the signal “payment”`.
  public var description: String {
    switch self {
    case .signal(let name): "the signal “\(name)”"
    case .sleep(let name): "the end of the sleep “\(name)”"
    }
  }

  /// The stored form, for example `signal payment`.
  @_spi(JobStore) public var stored: String {
    switch self {
    case .signal(let name): "signal \(name)"
    case .sleep(let name): "sleep \(name)"
    }
  }

  /// Creates a value from its stored form; nil if a newer release has stored another kind of wait.
  @_spi(JobStore) public init?(stored: String) {
    guard let space = stored.firstIndex(of: " ") else { return nil }
    let name = String(stored[stored.index(after: space)...])
    switch stored[..<space] {
    case "signal": self = .signal(name)
    case "sleep": self = .sleep(name)
    default: return nil
    }
  }
}
