// Downloads a file from a server that is busy at first and breaks the connection in the middle. Then counts the lines
// of the file and cancels a request that is never answered.

import Foundation
import Headway
import HeadwayHTTP

typealias OperationQueue = Headway.OperationQueue

let server = try await Server.start()
let path = FileManager.default.temporaryDirectory.path + "/stops-\(ProcessInfo.processInfo.processIdentifier).txt"
defer { try? FileManager.default.removeItem(atPath: path) }
let queue = OperationQueue()

let download = DownloadOperation("\(server)/stops.txt", to: path)
let count = TaskOperation {
  try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").count
}
count.addDependency(download, requiring: .success)
queue.addOperations([count, download], waitUntilFinished: false)
print(try await count.value, "lines in", download.progress.completedUnitCount, "bytes")

let unanswered = RequestOperation("\(server)/never")
queue.addOperation(unanswered)
unanswered.cancel()
try await unanswered.untilFinished()
print("Given up:", unanswered.isCancelled, unanswered.response == nil)

var limits = HTTPLimits()
limits.retryPolicy = .never
limits.totalTimeout = .milliseconds(100)
let impatient = RequestOperation("\(server)/never", limits: limits)
queue.addOperation(impatient)
do {
  print(try await impatient.value.status)
} catch let error as RequestError {
  print("Failed:", error.code)
}
