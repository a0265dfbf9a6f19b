import Synchronization

extension OperationQueue {
  /// Runs the operations of a run, on its thread; fewer than it has, if others took some back.
  ///
  /// - Parameters:
  ///   - run: The run.
  ///   - worker: The worker whose thread this is.
  /// - Returns: How many were run.
  final func runAll(of run: OperationRun, _ worker: Worker?) -> Int {
    var number = 0
    ThreadContext.run(in: self, run) { context in
      // Retained and begun: the queue lets go of it when it has been booked as finished.
      var next: OperationReference?
      var isOver = false
      while !isOver, let reference = next ?? run.next() {
        let hasBegun = next != nil
        worker?.beginsNext()
        next = reference._withUnsafeGuaranteedRef { operation -> OperationReference? in
          // Somebody may have set the queue's progress since the run was taken.
          guard hasBegun || trackedProgress == nil && operation.state.beginPlainly() else {
            context.pointee.leaveRun()
            isOver = true
            if runTaken(operation, of: run) { number += 1 }
            return nil
          }
          run.announce(reference)
          number += 1
          context.pointee.enter(reference)
          operation.callMain()
          isOver = run.standsBack || worker?.leavesSoon.load(ordering: .relaxed) == true
          return operation.end(in: run, isRetained: hasBegun, goesOn: !isOver)
        }
        if hasBegun {
          context.pointee.leave()
          reference.release()
        }
      }
    }
    return number
  }

  /// Runs an operation of a run that does not start plainly: it was cancelled, say, or is observed; false if it can't
  /// be started, since it was given a dependency.
  ///
  /// Closes the run.
  private func runTaken(_ operation: Operation, of run: OperationRun) -> Bool {
    let claimed = look { books in
      guard books.admission.claimTaken(operation, of: run) else { return Optional<Operation>.none }
      books.record { .started(operation) }
      return operation
    }
    guard let claimed else { return false }
    startUnit(of: claimed)
    self.run(claimed, comesBack: false)
    return true
  }

  /// The calling thread, to which `run` belongs, is about to block: what it has not started is for others.
  final func threadBlocks(in run: OperationRun) {
    look { $0.admission.takeBack(run) }
  }

  /// Looks for something to do for a while, without a lock.
  ///
  /// The thread is the queue's lingerer and holds a permission, so nobody else is woken for the first operation that
  /// comes.
  final func linger(while condition: () -> Bool) {
    while !lingererSignal.load(ordering: .acquiring), inbox.isEmpty, condition() {}
  }
}
