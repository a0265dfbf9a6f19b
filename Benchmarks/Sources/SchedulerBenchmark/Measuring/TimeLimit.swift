import Glibc

/// How long a process goes on repeating what it measures: `HEADWAY_BENCHMARK_SECONDS`, or a second.
enum TimeLimit {
  static let seconds = getenv("HEADWAY_BENCHMARK_SECONDS").flatMap { Double(String(cString: $0)) } ?? 1
}
