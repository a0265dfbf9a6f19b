#if Jobs
import HeadwayJobs

/// What is wrong with a store, and the commands that show more.
struct HealthText {
  let health: JobsHealth
  let location: JobStoreLocation

  /// The problems, worst first, each with a command on the next line.
  var problems: [String] {
    guard !health.problems.isEmpty else { return [Self.start(.good) + "No check has found a problem."] }
    return health.problems.flatMap { [Self.start($0.level) + $0.text] + next(to: $0) }
  }

  /// All findings in the order of the checks, with the commands of the problems.
  var findings: [String] {
    let lines = JobText.table(["", "", ""], health.findings.map { [$0.level.rawValue, $0.name, $0.text] }).dropFirst()
    return zip(health.findings, lines).flatMap { finding, line in
      [line] + (finding.level == .good ? [] : next(to: finding))
    }
  }

  private static func start(_ level: JobsHealth.Level) -> String { level.rawValue.padded(to: 9) }

  private func next(to finding: JobsHealth.Finding) -> [String] {
    command(for: finding).map { ["".padded(to: 9) + $0] } ?? []
  }

  /// The command that shows what a finding is about; nil if it is about the store as a whole.
  func command(for finding: JobsHealth.Finding) -> String? {
    let words: [String]
    switch finding.link {
    case .jobs(let filter): words = Self.words(for: filter)
    case .queue: words = ["queues"]
    case .schedule: words = ["schedules"]
    case .worker: words = ["status"]
    case .errors: words = ["errors"]
    case nil: return nil
    }
    let place = ["--store", location.place] + (location.schema.map { ["--schema", $0] } ?? [])
    return (["headway", "jobs"] + words + place).map(Self.quoted).joined(separator: " ")
  }

  private static func words(for filter: JobFilter) -> [String] {
    if let ids = filter.ids, ids.count == 1 { return ["show", "\(ids[0])"] }
    var words = ["list"]
    for state in (filter.states ?? []).sorted(by: { $0.rawValue < $1.rawValue }) { words += ["--state", state.name] }
    for kind in (filter.kinds ?? []).sorted() { words += ["--kind", kind.rawValue] }
    for queue in (filter.queues ?? []).sorted() { words += ["--queue", queue] }
    return words
  }

  /// Returns a word that a shell does not split or change.
  private static func quoted(_ word: String) -> String {
    let isPlain =
      !word.isEmpty
      && word.utf8.allSatisfy { byte in
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/:@%+=,".utf8.contains(byte)
      }
    return isPlain ? word : "'" + word.replacing("'", with: "'\\''") + "'"
  }
}
#endif
