import Glibc

/// How long a process repeats its measurement: `HEADWAY_BENCHMARK_SECONDS`, or one second.
enum TimeLimit {
  static let seconds = getenv("HEADWAY_BENCHMARK_SECONDS").flatMap { Double(String(cString: $0)) } ?? 1
}
