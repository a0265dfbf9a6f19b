#if !Jobs
// The main type that needs the trait Jobs. If a program uses the type without the trait, the compiler names the trait.

/// A store of jobs in an SQLite database; enable the trait `Jobs` to use it.
@available(*, unavailable, message: "Enable the trait Jobs: .package(url: …, from: …, traits: [\"Jobs\"])")
public struct SQLiteJobStore {
  /// Unavailable.
  public init(path: String) throws {}
}
#endif
