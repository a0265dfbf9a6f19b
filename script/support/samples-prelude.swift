// Declarations that the samples in documentation comments rely on. Each sample may use these names, or declare its own.

import GRDB
import Headway
import HeadwayHTTP
import HeadwayJobs
import HeadwayJobsPostgreSQL
@_spi(JobStore) import HeadwayJobsTestKit
import HeadwayLines

let queue = OperationQueue()
let operation = Operation()
let first = BlockOperation {}
let second = BlockOperation {}

/// Represents any work that can fail.
func draw(_ part: String) throws {}

let path = "words.txt"
let reader = LineReader(path: path)
nonisolated(unsafe) var header: [String] = []
nonisolated(unsafe) var total = 0
var batch: LineBatch { fatalError("Samples of documentation comments are compiled, and not run.") }
var buffer: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(start: nil, count: 0) }

/// Represents the handling of text in a program.
func process(_ text: String) {}

/// Represents the handling of bytes in a program.
func consume(_ bytes: Slice<UnsafeMutableRawBufferPointer>) {}

/// Represent asynchronous work.
let addresses = ["a", "b"]
func fetch(_ address: String) async throws -> String { address }
func render(_ text: String) async throws -> [UInt8] { Array(text.utf8) }

/// Represent durable jobs.
struct Resize: Job {
  static let kind: JobKind = "resize"
  var path: String
  func perform(in context: JobContext) async throws -> Int { 0 }
}
struct Publish: Job {
  static let kind: JobKind = "publish"
  func perform(in context: JobContext) async throws {}
}
let jobs = Jobs(MemoryJobStore())
var context: JobContext { fatalError("Samples of documentation comments are compiled, and not run.") }
var pool: DatabasePool { fatalError("Samples of documentation comments are compiled, and not run.") }
var fixture: any JobStoreFixture { fatalError("Samples of documentation comments are compiled, and not run.") }
var store: PostgresJobStore { fatalError("Samples of documentation comments are compiled, and not run.") }
