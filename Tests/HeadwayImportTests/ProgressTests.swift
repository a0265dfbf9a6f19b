#if SQLite
import Headway
@testable import HeadwayImport
import HeadwaySampleData
import HeadwayTestKit
import Testing

@Suite("Import: progress", .hangLimit)
struct ProgressTests {
  @Test("I2: progress grows, is reported at most 100 times, and ends at 1", arguments: [1, 7, 100, 1_000, 5_000])
  func telling(batchSize: Int) throws {
    try withWorkspace { workspace in
      let database = try workspace.database()
      let operation = try workspace.operation(
        people(1...1_000), into: database, options: ImportOptions(batchSize: batchSize))
      let told = EventRecorder<Double>()
      let token = operation.progress.onChange { told.record($0.fractionCompleted) }
      run(operation)
      token.invalidate()
      #expect(told.events.count <= 100)
      #expect(told.events.count >= min(100, 1_000 / batchSize))
      #expect(told.events == told.events.sorted())
      #expect(told.events.last == 1)
    }
  }

  @Test(
    "I2: progress ends at 1, regardless of the file's ending and the batch size",
    arguments: ["1,a", "1,a\n", "1,a\n\n\n", "1,a\n2,b", "1,a\n2,b\n", "1,a\n2,b\r\n\r\n", "", "\n", "1,a\n2"])
  func ends(lines: String) throws {
    for batchSize in [1, 2, 3] {
      try withWorkspace { workspace in
        let file = try workspace.write("id,name\n" + lines, to: "people.csv")
        let operation = ImportOperation(
          file: file, table: .people, into: try workspace.database(), options: ImportOptions(batchSize: batchSize))
        let told = EventRecorder<Double>()
        let token = operation.progress.onChange { told.record($0.fractionCompleted) }
        run(operation)
        token.invalidate()
        #expect(operation.error == nil)
        #expect(operation.progress.fractionCompleted == 1)
        #expect(told.events.last == 1)
        #expect(operation.report.committedByteCount == operation.report.fileSize)
      }
    }
  }

  @Test("I2: progress counts the bytes whose rows are committed")
  func bytes() throws {
    try withWorkspace { workspace in
      // Eight bytes per line, including the header; the last byte is the line end.
      let lines = (100_000..<100_050).map { "\($0 - 90_000),b" }
      let operation = try workspace.operation(
        lines, header: "id,text", into: try workspace.database(), options: ImportOptions(batchSize: 10))
      let gate = Checkpoint()
      operation.stop(at: gate)
      let queue = Headway.OperationQueue()
      queue.addOperation(operation)
      for batch in 1...5 {
        gate.awaitArrival()
        let bytes = 8 + batch * 80
        #expect([bytes - 1, bytes].contains(operation.report.committedByteCount))
        #expect([bytes - 1, bytes].contains(Int(operation.progress.completedUnitCount)))
        #expect(operation.progress.totalUnitCount == 408)
        #expect(operation.report.fileSize == 408)
        gate.open()
      }
      queue.waitUntilAllOperationsAreFinished()
      #expect(operation.progress.completedUnitCount == 408)
    }
  }

  @Test("I2: the progress of a feed counts the bytes of its files, is reported at most 100 times, and ends at 1")
  func feed() throws {
    try withWorkspace { workspace in
      try SampleFeed(stopTimes: 300, seed: 4).write(to: workspace.path("feed"))
      let feed = try FeedImport(
        folder: workspace.path("feed"), into: try workspace.database(), options: ImportOptions(batchSize: 5))
      let size = try SampleFeed.fileNames.reduce(0) { try $0 + workspace.bytes(of: "feed/\($1)").count }
      #expect(feed.progress.totalUnitCount == Int64(size))
      let told = EventRecorder<Double>()
      let token = feed.progress.onChange { told.record($0.fractionCompleted) }
      run(feed.operations)
      token.invalidate()
      #expect(feed.operations.allSatisfy { $0.error == nil })
      #expect((20...100).contains(told.events.count))
      #expect(told.events.max() == 1)
      #expect(feed.progress.fractionCompleted == 1)
      #expect(feed.progress.isFinished)
    }
  }

  @Test("I2: a report contains the table, the file, the counts and the duration")
  func reports() throws {
    try withWorkspace { workspace in
      let operation = try workspace.operation(people(1...10) + ["broken"], into: try workspace.database())
      #expect(operation.report.duration == .zero)
      #expect(operation.report.fileSize == nil)
      run(operation)
      let report = operation.report
      #expect(report.table == "people")
      #expect(report.file == operation.file)
      #expect(report.rowCount == 10)
      #expect(report.rejectedRowCount == 1)
      #expect(report.duration > .zero)
      #expect(report.rowsPerSecond > 0)
      #expect(operation.report == report)  // The duration does not change after the end.
    }
  }
}
#endif
