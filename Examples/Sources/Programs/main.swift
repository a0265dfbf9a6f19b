// Programs in the style of code that has grown around operation queues: operations with their own states, conditions,
// groups, retries, and so on. Prints the events of each. Foundation and Headway must print the same.
//
// Compiled twice: `Programs` against Foundation, `ProgramsHeadway` against Headway. Each case runs in a separate
// process, so that a hang or a crash is detected.
//
//   swift run --package-path Examples Programs           all cases
//   swift run --package-path Examples Programs NAME…     those with such a name

#if HEADWAY
import HeadwayFoundation
#else
import Foundation
#endif

typealias Program = [(name: String, run: @Sendable (Log) -> Void)]

let programs: [(name: String, cases: Program)] = [
  ("state machine", stateMachine),
  ("conditions", conditions),
  ("groups", groups),
  ("retries", retries),
  ("exclusivity", exclusivity),
  ("recording queue", recordingQueue), ("overrides for blocks", blockOverrides),
  ("persisted queue", persistedQueue),
  ("isFinished of its own", finishedAlone),
  ("cancelled in no queue", cancelledInNoQueue),
  ("cancelled, started by the queue", cancelledStarts),
  ("readiness in no queue", readiness),
  ("small things", smallThings),
]

let cases = programs.flatMap { program in program.cases.map { ("\(program.name): \($0.name)", $0.run) } }

/// In the child: runs one case on its own thread, while the main thread serves the main queue.
func runCase(_ name: String) -> Never {
  guard let run = cases.first(where: { $0.0 == name })?.1 else { exit(2) }
  Thread.detachNewThread {
    let log = Log()
    let done = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      run(log)
      done.signal()
    }
    // Only a case that never ends takes this long.
    let isDone = done.wait(timeout: .now() + 20) == .success
    for line in log.lines + (isDone ? [] : ["hung"]) { print("| \(line)") }
    exit(0)
  }
  while true { RunLoop.main.run(until: .distantFuture) }
}

/// In the parent: starts a process for the case, and returns the lines that it recorded and how it ended abnormally.
func observe(_ name: String) throws -> [String] {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
  process.arguments = ["--case", name]
  process.environment = ProcessInfo.processInfo.environment.merging(["SWIFT_BACKTRACE": "enable=no"]) { $1 }
  let pipe = Pipe()
  process.standardOutput = pipe
  process.standardError = FileHandle.nullDevice
  try process.run()
  let data = pipe.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  // Foundation prints its own warnings.
  let lines = String(decoding: data, as: UTF8.self).components(separatedBy: "\n").filter { $0.hasPrefix("| ") }
  let isCrash = process.terminationReason == .uncaughtSignal
  return lines.map { String($0.dropFirst(2)) } + (isCrash ? ["crashed with signal \(process.terminationStatus)"] : [])
}

let arguments = CommandLine.arguments.dropFirst()
if arguments.first == "--case", let name = arguments.dropFirst().first { runCase(name) }
for (name, _) in cases where arguments.isEmpty || arguments.contains(where: name.contains) {
  print(([name] + (try observe(name))).joined(separator: "\n  "))
  fflush(nil)
}
