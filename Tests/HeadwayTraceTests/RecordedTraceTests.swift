import Headway
import HeadwayTestKit
import HeadwayTestSupport
import HeadwayTrace
import Testing

/// Recordings of real queues.
///
/// They are recorded in separate processes, because a recording includes all queues.
@Suite("Recorded traces", HangLimit()) struct RecordedTraceTests {
  @Test("Q19: the path, the pictures and the files of a recording contain the operations that ran")
  func chain() async {
    await #expect(processExitsWith: .success) {
      let queue = OperationQueue(name: "work", maxConcurrentOperationCount: 1)
      let recording = try await Trace.record {
        let operations = ["parse", "index", "commit"].map { name in
          let operation = BlockOperation { Trace.span("inside \(name)") {} }
          operation.name = name
          return operation
        }
        operations[1].addDependency(operations[0])
        operations[2].addDependency(operations[1])
        queue.addOperations(operations.reversed(), waitUntilFinished: false)
        try await queue.untilAllOperationsAreFinished()
      }
      #expect(recording.operations.map(\.name).sorted() == ["commit", "index", "parse"])
      let path = recording.criticalPath()
      #expect(path?.steps.map { recording.operations[$0.operation].name } == ["parse", "index", "commit"])
      #expect(path?.description.contains("is work on the path parse → index → commit") == true)
      for text in [
        recording.render(as: .svg()), recording.render(as: .html), recording.render(as: .chromeTrace),
        recording.render(as: .mermaid),
      ] {
        for name in ["parse", "index", "commit"] { #expect(text.contains(name)) }
      }
    }
  }

  @Test("Q19: the trace alone shows which limit a program waits for")
  func bottleneck() async {
    await #expect(processExitsWith: .success) {
      let files = OperationQueue(name: "files", maxConcurrentOperationCount: 1)
      let recording = try await Trace.record {
        let (started, end) = (Gate(), Gate())
        files.addOperation {
          started.open()
          end.wait()
        }
        await started.untilOpen()
        let waiting = BlockOperation {}
        files.addOperation(waiting)
        // The second operation has waited for more than a microsecond when the first one ends.
        let added = ContinuousClock.now
        while ContinuousClock.now - added < .microseconds(50) {}
        end.open()
        try await files.untilAllOperationsAreFinished()
      }
      let path = recording.criticalPath()
      #expect(path?.steps.count == 2 && path?.steps.last?.waitReason == .limit(queue: 0))
      #expect(path?.longestLimit?.queue == 0)
      #expect(path?.description.contains("operations on this path waited because “files” was at its limit (1)") == true)
    }
  }
}
