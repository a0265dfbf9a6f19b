#if !PostgreSQL
// The main type that needs the trait PostgreSQL. If a program uses the type without the trait, the compiler names the
// trait.

/// A store of jobs in a PostgreSQL database; enable the trait `PostgreSQL` to use it.
@available(*, unavailable, message: "Enable the trait PostgreSQL: .package(url: …, from: …, traits: [\"PostgreSQL\"])")
public struct PostgresJobStore {
  /// Unavailable.
  public init(_ connectionString: String) async throws {}
}
#endif
