import Foundation

/// Measures one workload with one rival and prints the result as a line of JSON.
///
/// `script/bench` starts it for each measurement, so that no rival works with the heap or the threads that another
/// left.
///
/// Usage: `SchedulerBenchmark WORKLOAD RIVAL COUNT`
@main enum SchedulerBenchmark {
  static func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 4, let count = Int(arguments[3]), count > 0,
      let workload = Workload.all.first(where: { $0.name == arguments[1] }),
      let rival = Rivals.all.first(where: { $0.name == arguments[2] })
    else {
      let workloads = Workload.all.map(\.name).joined(separator: ", ")
      let rivals = Rivals.all.map(\.name).joined(separator: ", ")
      fail("usage: SchedulerBenchmark WORKLOAD RIVAL COUNT\nworkloads: \(workloads)\nrivals: \(rivals)")
    }
    guard let report = workload.measure(rival, count) else { fail("\(rival.name) has no way to do \(workload.name)") }
    print(try report.printed())
    // Freeing the memory that a rival leaves is not measured; it takes Foundation minutes.
    fflush(nil)
    _exit(0)
  }

  private static func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data((message + "\n").utf8))
    exit(2)
  }
}
