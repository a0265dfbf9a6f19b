import Foundation
import Headway
import HeadwayImport
import HeadwaySampleData

let folder = FileManager.default.temporaryDirectory.appendingPathComponent("headway-example-\(getpid())").path
try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
defer { try? FileManager.default.removeItem(atPath: folder) }

try SampleFeed(stopTimes: 2_000, seed: 7).write(to: "\(folder)/feed")
let database = try ImportDatabase(path: "\(folder)/feed.sqlite")
let feed = try FeedImport(folder: "\(folder)/feed", into: database)

let queue = Headway.OperationQueue()
let tenths = feed.progress.onChange { progress in
  // Called at most 100 times, whatever the size of the feed.
  if progress.isFinished { print("imported") }
}
queue.addOperations(feed.operations, waitUntilFinished: true)
tenths.invalidate()

for report in feed.reports.sorted(by: { $0.table < $1.table }) {
  print(report.table, report.rowCount, report.rejectedRowCount)
}
try database.close()
