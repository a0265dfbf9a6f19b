import Headway
import HeadwayFoundation
import HeadwayTrace

/// Downloads the sales of eight shops, checks them, and writes a report.
func makeReport(maxDownloadCount: Int) -> TraceRecording {
  let downloads = OperationQueue(name: "downloads", maxConcurrentOperationCount: maxDownloadCount)
  let work = OperationQueue(name: "work")
  return Trace.record {
    let report = BlockOperation {
      Trace.span("add up") { Thread.sleep(forTimeInterval: 0.03) }
      Trace.span("write file") { Thread.sleep(forTimeInterval: 0.02) }
    }
    report.name = "report"
    for shop in 1...8 {
      let download = BlockOperation { Thread.sleep(forTimeInterval: 0.05) }
      download.name = "fetch \(shop)"
      let check = BlockOperation { Thread.sleep(forTimeInterval: 0.02) }
      check.name = "check \(shop)"
      check.addDependency(download)
      report.addDependency(check)
      downloads.addOperation(download)
      work.addOperation(check)
    }
    work.addOperation(report)
    report.waitUntilFinished()
  }
}

/// Describes the limit that delayed the last operation.
func describeLimit(_ recording: TraceRecording) -> String {
  guard let limit = recording.criticalPath()?.longestLimit else { return "no limit" }
  let queue = recording.queues[limit.queue]
  return "the limit of “\(queue.name ?? "a queue")” (\(queue.maxConcurrentOperationCount ?? 0))"
}

let before = makeReport(maxDownloadCount: 1)
let after = makeReport(maxDownloadCount: 8)
print("Before: the report waited for \(describeLimit(before)).")
print("After: the report waited for \(describeLimit(after)).")

// With a folder as its argument, the program prints the critical paths and writes timelines.
if let folder = CommandLine.arguments.dropFirst().first {
  for (name, recording) in [("before", before), ("after", after)] {
    print(recording.criticalPath()?.description ?? "")
    try recording.render(as: .svg(width: 800)).write(toFile: "\(folder)/\(name).svg", atomically: true, encoding: .utf8)
  }
}
