import Dispatch
import Headway
import HeadwayTestKit
import Synchronization
import Testing

@Suite("Progress", .hangLimit) struct QueueProgressTests {
  @Test("Q10: with a total of 0, a queue tracks nothing") func untracked() {
    let queue = OperationQueue()
    let operations = (0..<10).map { _ in BlockOperation {} }
    queue.addOperations(operations, waitUntilFinished: true)
    #expect(queue.progress.totalUnitCount == 0 && queue.progress.completedUnitCount == 0)
    #expect(queue.progress.fractionCompleted == 0 && queue.progress.isIndeterminate && !queue.progress.isFinished)
  }

  @Test("Q10: each finished operation completes one unit, even if it was cancelled or failed") func units() {
    let queue = OperationQueue()
    queue.progress.totalUnitCount = 7
    queue.addOperations((0..<3).map { _ in BlockOperation {} }, waitUntilFinished: true)
    #expect(queue.progress.completedUnitCount == 3)
    #expect(queue.progress.fractionCompleted == 3.0 / 7)
    queue.addOperations([BlockOperation { throw Mishap() }], waitUntilFinished: true)
    #expect(queue.progress.completedUnitCount == 4)
    queue.isSuspended = true
    let cancelled = BlockOperation {}
    queue.addOperation(cancelled)
    cancelled.cancel()
    cancelled.waitUntilFinished()
    #expect(queue.progress.completedUnitCount == 5)
    queue.isSuspended = false
    queue.addOperations((0..<2).map { _ in BlockOperation {} }, waitUntilFinished: true)
    #expect(queue.progress.isFinished && queue.progress.fractionCompleted == 1)
  }

  @Test("Q10: barriers complete no unit, so the progress does not exceed its total") func barriers() {
    let queue = OperationQueue()
    queue.progress.totalUnitCount = 2
    let values = EventRecorder<Double>()
    let ran = EventRecorder<String>()
    for number in 0..<2 {
      queue.addBarrierBlock { [unowned queue] in
        ran.record("barrier")
        values.record(queue.progress.fractionCompleted)
      }
      queue.addOperation { ran.record("\(number)") }
    }
    queue.addBarrierBlock { ran.record("barrier") }
    let cancelled = Gate()
    let end = queue.occupy()
    queue.addBarrierBlock { Issue.record("a cancelled barrier ran") }
    queue.operations.last?.completionBlock = { cancelled.open() }
    queue.operations.last?.cancel()
    cancelled.wait()
    #expect(queue.progress.completedUnitCount == 2)
    // The operation that occupied the queue counts, like any operation.
    queue.progress.totalUnitCount = 3
    end.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(ran.events == ["barrier", "0", "barrier", "1", "barrier"] && values.events == [0, 0.5])
    #expect(queue.progress.completedUnitCount == 3 && queue.progress.isFinished)
  }

  @Test("Q10: a running operation counts with its own fraction, and as one unit when it has finished")
  func runningFraction() {
    let queue = OperationQueue()
    queue.progress.totalUnitCount = 2
    let (half, go, whole, end) = (Gate(), Gate(), Gate(), Gate())
    let operation = SelfAware { operation in
      operation.progress.totalUnitCount = 4
      operation.progress.completedUnitCount = 2
      half.open()
      go.wait()
      operation.progress.completedUnitCount = 4
      whole.open()
      end.wait()
    }
    queue.addOperation(operation)
    half.wait()
    #expect(queue.progress.fractionCompleted == 0.25 && queue.progress.completedUnitCount == 0)
    go.open()
    whole.wait()
    #expect(queue.progress.fractionCompleted == 0.5)
    end.open()
    queue.waitUntilAllOperationsAreFinished()
    #expect(queue.progress.fractionCompleted == 0.5 && queue.progress.completedUnitCount == 1)
    queue.addOperations([SelfAware { $0.progress.totalUnitCount = 10 }], waitUntilFinished: true)
    #expect(queue.progress.isFinished, "an operation that stopped counting early is a whole unit too")
  }

  @Test("Q10: cancelling the progress of a queue cancels its operations") func cancellingQueue() {
    let queue = OperationQueue()
    queue.isSuspended = true
    let operations = (0..<3).map { _ in BlockOperation { Issue.record("a cancelled operation ran") } }
    queue.addOperations(operations, waitUntilFinished: false)
    queue.progress.cancel()
    for operation in operations { operation.waitUntilFinished() }
    #expect(operations.allSatisfy { $0.isCancelled })
  }

  @Test("Q10: cancelling the progress of a queue does not affect operations that are added later")
  func cancellingIsNotForLater() {
    let queue = OperationQueue()
    queue.progress.totalUnitCount = 1
    queue.progress.cancel()
    let later = BlockOperation {}
    queue.addOperation(later)
    later.waitUntilFinished()
    #expect(!later.isCancelled)
    #expect(queue.progress.isFinished)
  }

  @Test("Q10: cancelling the progress of an operation cancels the operation") func cancellingOperation() {
    let operation = BlockOperation {}
    operation.progress.cancel()
    #expect(operation.isCancelled && operation.isFinished)
  }

  @Test("Q10: observers are notified at most 100 times for 1,000,000 steps", arguments: [true, false])
  func toldRarely(isObservedFirst: Bool) {
    let progress = OperationProgress(totalUnitCount: isObservedFirst ? 0 : 1_000_000)
    let fractions = EventRecorder<Double>()
    let token = progress.onChange { fractions.record($0.fractionCompleted) }
    progress.totalUnitCount = 1_000_000
    for _ in 0..<1_000_000 { progress.completedUnitCount += 1 }
    #expect(fractions.count == 100)
    #expect(fractions.events == fractions.events.sorted() && fractions.events.last == 1)
    token.invalidate()
  }

  @Test("Q10: observers are notified at most 100 times, regardless of how many threads complete units")
  func toldRarelyByMany() {
    let queue = OperationQueue(limit: 8)
    queue.progress.totalUnitCount = 20_000
    let told = EventRecorder<Int>()
    let token = queue.progress.onChange { _ in told.record(1) }
    queue.isSuspended = true
    for _ in 0..<20_000 { queue.addOperation {} }
    queue.isSuspended = false
    queue.waitUntilAllOperationsAreFinished()
    #expect(queue.progress.isFinished)
    #expect((1...100).contains(told.count))
    token.invalidate()
  }

  @Test("Q10: an observer can call anything, and is not called after its token is released") func observer() {
    let queue = OperationQueue(limit: 1)
    queue.progress.totalUnitCount = 4
    let seen = EventRecorder<Int>()
    var token: KeyValueObservation? = queue.progress.onChange { progress in
      seen.record(queue.operationCount)
      progress.isPausable.toggle()
    }
    for count in 1...2 {
      // One after the other: if two end at the same time, the second one's notification can report both.
      queue.addOperations([BlockOperation {}], waitUntilFinished: true)
      #expect(eventually { seen.count == count })
    }
    // It has left the queue when they are called.
    #expect(seen.events == [0, 0])
    _ = token
    token = nil
    queue.addOperations([BlockOperation {}, BlockOperation {}], waitUntilFinished: true)
    #expect(seen.count == 2)
  }

  @Test("Q10: children count with their pending units, at any depth") func children() {
    let whole = OperationProgress(totalUnitCount: 10)
    whole.completedUnitCount = 2
    let part = OperationProgress(totalUnitCount: 1_000, parent: whole, pendingUnitCount: 4)
    let detail = OperationProgress(totalUnitCount: 2, parent: part, pendingUnitCount: 500)
    detail.completedUnitCount = 1
    #expect(part.fractionCompleted == 0.25)
    #expect(abs(whole.fractionCompleted - 0.3) < 1e-12)
    #expect(whole.completedUnitCount == 2)
    detail.completedUnitCount = 2
    #expect(part.completedUnitCount == 500, "a child that has finished turns into units")
    part.completedUnitCount = 1_000
    #expect(whole.completedUnitCount == 6 && part.isFinished && !whole.isFinished)
    let finished = OperationProgress(totalUnitCount: 1)
    finished.completedUnitCount = 1
    whole.addChild(finished, withPendingUnitCount: 4)
    #expect(whole.isFinished && whole.fractionCompleted == 1)
  }

  @Test("Q10: observers of parents are notified of children's changes, and parents finish, with several threads")
  func propagation() {
    for round in 0..<200 {
      let whole = OperationProgress(totalUnitCount: 1)
      let middle = OperationProgress(totalUnitCount: 4, parent: whole, pendingUnitCount: 1)
      let told = EventRecorder<Double>()
      let token = whole.onChange { told.record($0.fractionCompleted) }
      let meeting = Meeting(of: 4)
      let queue = OperationQueue()
      for _ in 0..<4 {
        let part = OperationProgress(totalUnitCount: 1, parent: middle, pendingUnitCount: 1)
        queue.addOperation {
          meeting.attend()
          part.completedUnitCount = 1
        }
      }
      queue.waitUntilAllOperationsAreFinished()
      #expect(middle.isFinished && whole.isFinished, "round \(round): \(middle.completedUnitCount) of 4")
      #expect(told.events.last == 1 && told.count <= 4)
      token.invalidate()
    }
  }

  @Test("Q10: an observer that is notified of the end finds the progress finished") func endIsFinished() {
    let whole = OperationProgress(totalUnitCount: 2)
    let ends = EventRecorder<Bool>()
    let token = whole.onChange { if $0.fractionCompleted == 1 { ends.record($0.isFinished) } }
    for _ in 0..<2 {
      let part = OperationProgress(totalUnitCount: 10, parent: whole, pendingUnitCount: 1)
      for unit in 1...10 { part.completedUnitCount = Int64(unit) }
    }
    #expect(ends.events == [true])
    token.invalidate()
  }

  @Test("Q10: a child has one parent") func oneParent() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let child = OperationProgress(totalUnitCount: 1)
      OperationProgress(totalUnitCount: 1).addChild(child, withPendingUnitCount: 1)
      let parent = OperationProgress(totalUnitCount: 1)
      parent.addChild(child, withPendingUnitCount: 1)
      let second = OperationProgress(totalUnitCount: 1)
      second.addChild(child, withPendingUnitCount: 1)
    }
    #expect(result.message.contains("the child already belongs to a progress"))
  }

  @Test("Q10: a progress can't be part of itself", arguments: [1, 3]) func noCircle(depth: Int) async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [depth] in
      let whole = OperationProgress(totalUnitCount: 1)
      var parts = [whole]
      for _ in 1..<depth {
        parts.append(OperationProgress(totalUnitCount: 1, parent: parts.last!, pendingUnitCount: 1))
      }
      parts.last!.addChild(whole, withPendingUnitCount: 1)
    }
    #expect(result.message.contains("the child would belong to itself"))
  }

  @Test("Q10: units that several threads complete are all counted") func counting() {
    let progress = OperationProgress(totalUnitCount: 40_000)
    let queue = OperationQueue(limit: 4)
    for _ in 0..<4 {
      queue.addOperation {
        for _ in 0..<10_000 { progress.completeUnits(1) }
      }
    }
    queue.waitUntilAllOperationsAreFinished()
    #expect(progress.completedUnitCount == 40_000 && progress.isFinished)
  }

  @Test("Q10: cancel, pause, and resume call each handler once, including the handlers of children") func handlers() {
    let record = EventRecorder<String>()
    func observe(_ progress: OperationProgress, as name: String) {
      progress.cancellationHandler = { record.record("\(name) cancelled") }
      progress.pausingHandler = { record.record("\(name) paused") }
      progress.resumingHandler = { record.record("\(name) resumed") }
    }
    let whole = OperationProgress(totalUnitCount: 2)
    let part = OperationProgress(totalUnitCount: 1, parent: whole, pendingUnitCount: 1)
    observe(whole, as: "whole")
    observe(part, as: "part")
    whole.resume()
    #expect(record.events.isEmpty)
    whole.pause()
    whole.pause()
    #expect(whole.isPaused && part.isPaused)
    let late = OperationProgress(totalUnitCount: 1)
    observe(late, as: "late")
    whole.addChild(late, withPendingUnitCount: 1)
    whole.resume()
    #expect(!whole.isPaused && !part.isPaused && !late.isPaused)
    whole.cancel()
    whole.cancel()
    #expect(whole.isCancelled && part.isCancelled && late.isCancelled)
    #expect(
      record.events == [
        "whole paused", "part paused", "late paused", "whole resumed", "part resumed", "late resumed",
        "whole cancelled", "part cancelled", "late cancelled",
      ])
    let after = OperationProgress(totalUnitCount: 1, parent: whole, pendingUnitCount: 0)
    #expect(after.isCancelled)
  }

  @Test("Q10: the members of Foundation's Progress have their initial values") func members() {
    let progress = OperationProgress(totalUnitCount: -1)
    #expect(progress.isIndeterminate && !progress.isFinished && progress.fractionCompleted == 0)
    #expect(progress.isCancellable && !progress.isPausable && !progress.isCancelled && !progress.isPaused)
    progress.totalUnitCount = 2
    progress.completedUnitCount = 1
    #expect(!progress.isIndeterminate && progress.fractionCompleted == 0.5)
    progress.completedUnitCount = 2
    #expect(progress.isFinished)
  }

  @Test("Q10: the last pause or resume that a handler calls takes effect, and the parts follow it") func veto() {
    let whole = OperationProgress(totalUnitCount: 2)
    let part = OperationProgress(totalUnitCount: 1, parent: whole, pendingUnitCount: 1)
    whole.pausingHandler = { [unowned whole] in whole.resume() }
    whole.pause()
    #expect(!whole.isPaused && !part.isPaused)
    whole.pausingHandler = nil
    whole.pause()
    #expect(whole.isPaused && part.isPaused)
    whole.resumingHandler = { [unowned whole] in whole.pause() }
    whole.resume()
    #expect(whole.isPaused && part.isPaused)
  }

  @Test("Q10: if two threads pause and resume, the parts follow the last call") func pausedBesideResumed() {
    for _ in 0..<300 {
      let whole = OperationProgress(totalUnitCount: 2)
      let part = OperationProgress(totalUnitCount: 1, parent: whole, pendingUnitCount: 1)
      DispatchQueue.concurrentPerform(iterations: 2) { number in
        for _ in 0..<20 {
          whole.pause()
          if number == 1 { whole.resume() }
        }
      }
      #expect(whole.isPaused == part.isPaused)
    }
  }
}
