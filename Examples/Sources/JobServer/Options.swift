/// The options of the command line: `JobServer --port 8080 --report ends.json --grace-period 20 --max-jobs 1000`.
struct Options {
  /// The port; 0 for a free one.
  var port = 8080
  /// Where to write, at the end, how each job ended; nil to keep no list of all jobs.
  var report: String?
  /// How many seconds the jobs can continue after SIGTERM.
  var gracePeriod = 20
  /// The maximum number of jobs in the queue.
  var maxJobCount = 1_000
  /// How many jobs run at the same time.
  var concurrentJobCount = 32

  init(_ arguments: [String]) {
    var rest = arguments.dropFirst()
    while let name = rest.popFirst() {
      guard let value = rest.popFirst() else { fatalError("\(name) has no value") }
      switch (name, Int(value)) {
      case ("--report", _): report = value
      case ("--port", let number?): port = number
      case ("--grace-period", let number?): gracePeriod = number
      case ("--max-jobs", let number?): maxJobCount = number
      case ("--concurrent-jobs", let number?): concurrentJobCount = number
      default: fatalError("\(name) \(value) is not an option")
      }
    }
  }
}
