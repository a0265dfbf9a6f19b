// Runs one case after another against operation queues and prints one line for each: `name: what was observed`. Each
// case runs in a separate process, because with Foundation some of them hang and some crash.
//
// Compiled twice: `Differences` against Foundation, `DifferencesHeadway` against Headway.
//
//   swift run --package-path Examples -c release Differences           all cases
//   swift run --package-path Examples -c release Differences NAME…     those with such a name

#if HEADWAY
import HeadwayFoundation
#else
import Foundation
#endif

let cases: [(name: String, seconds: Double, run: @Sendable () -> String)] = [
  ("D4 dependency removed", 5, dependencyRemoved),
  ("D5 dependency on itself", 5, dependencyOnItself),
  ("D5 dependency after the start", 5, dependencyAfterStart),
  ("D6 cycle", 5, cycle),
  ("D7 chain, built and run", 60, chainCost),
  ("D7 many dependencies of one operation", 60, joinCost),
  ("D7 cancelAllOperations on waiting operations", 60, cancelCost),
  ("Q8 barrier behind many operations", 60, barrierCost),
  ("Q8 barriers behind barriers", 60, barriersCost),
  ("Q5 operationCount", 60, countCost),
  ("D8 dependencies from two threads", 15, dependenciesFromTwoThreads),
  ("O8 dependencies kept", 5, dependenciesKept),
  ("O8 chain freed", 30, chainFreed),
  ("O8 dependencies in the completion block", 5, dependenciesInCompletionBlock),
  ("O8 dependent freed before its dependency has finished", 5, dependentFreed),
  ("C4 cancelled in no queue", 5, cancelledWithoutQueue),
  ("C4 cancelled, then added", 5, cancelledWhenAdded),
  ("C4 cancelled in no queue, isFinished of its own", 5, cancelledWithState),
  ("C5 cancelled in a suspended queue", 5, cancelledInSuspendedQueue),
  ("C5 cancelled in a suspended queue, start of its own", 5, cancelledStartSuspended),
  ("C5 cancelled behind ready ones, start of its own", 5, cancelledStartOrder),
  ("C5 cancelled in a full queue", 5, cancelledInFullQueue),
  ("C6 cancelAllOperations on the main queue", 5, cancelAllOnMainQueue),
  ("C2 cancelled with its own isReady", 5, cancelledBeforeReady),
  ("Q8 cancelled, added behind a barrier", 5, cancelledBehindBarrier),
  ("Q8 barrier, suspended queue", 5, barrierSuspended),
  ("Q8 barrier, underlying queue", 5, barrierUnderlyingQueue),
  ("Q8 barrier, main queue", 5, barrierMainQueue),
  ("Q8 barrier, waiting", 5, barrierWaiting),
  ("Q8 barrier, global underlying queue", 5, barrierGlobalQueue),
  ("Q8 barrier, own queue", 5, barrierOwnQueue),
  ("Q8 barrier, counted", 5, barrierCounted),
  ("W1 completion block", 5, completionBlockReleased),
  ("W1 completion block that names its operation", 5, completionBlockCycle),
  ("W1 completion block after waiting", 20, completionBlockAfterWaiting),
  ("W1 completion block, end announced in main", 5, completionBlockTwice),
  ("O8 blocks of a block operation", 5, executionBlockReleased),
  ("B1 blocks of one operation", 5, blocksConcurrent),
  ("B1 blocks of a cancelled operation", 5, blocksCancelled),
  ("O3 finished before the queue has started it", 5, finishedBeforeStart),
  ("O3 isFinished of its own, after main", 5, stateAfterMain),
  ("O3 isReady posted", 5, readinessPosted),
  ("O3 isReady posted by name", 5, readinessPostedByName),
  ("O3 isReady not posted", 5, readinessNotPosted),
  ("O3 isReady not posted, another added", 5, readinessAskedAgain),
  ("O3 isReady in no queue", 5, readinessInNoQueue),
  ("O3 isReady taken back", 5, readinessTakenBack),
  ("O3 isReady taken back in a full queue", 5, readinessTakenBackInFullQueue),
  ("O3 isReady posted after the dependencies", 5, readinessAfterDependency),
  ("O3 isReady posted, serial queue", 5, readinessSerialQueue),
  ("P2 priority changed, with a quality of service", 5, priorityChangedWithQualityOfService),
  ("P2 quality of service orders", 5, qualityOfServiceOrders),
  ("Q3 not ready one first, serial queue", 5, notReadyFirstSerial),
  ("Q5 not ready one first, operationCount", 5, notReadyFirstListed),
  ("C6 not ready one first, cancelAllOperations", 5, notReadyFirstCancelled),
  ("Q6 not ready one first, waiting", 5, notReadyFirstWaited),
  ("T2 50 sleepers", 30, blockedOperations),
  ("T2 200 sleepers", 60, blockedOperationsMany),
  ("T2 another queue behind sleepers", 60, blockedBySleepers),
  ("W4 waiting on itself", 5, waitOnItself),
  ("W4 waiting for its own queue", 5, waitForOwnQueue),
  ("Q7 main queue suspended", 5, mainQueueSuspended),
  ("Q9 main dispatch queue as underlying", 5, underlyingMainQueue),
  ("P3 nice values", 5, niceValues),
  ("Q10 progress and a cancelled operation", 5, progressCounts),
  ("Q10 progress and an asynchronous operation", 5, progressOfAsynchronous),
  ("W2 in the queue after waiting", 30, leftWhenWaited),
  ("Q11 queue released", 5, queueFreed),
  ("Q10 progress cancelled", 5, progressCancels),
  ("O7 names", 5, names),
  ("O7 descriptions", 5, descriptions),
  ("P1 raw priorities", 5, rawPriorities),
]

/// In the child: runs one case on its own thread, with a deadline, while the main thread serves the main queue.
func runCase(_ name: String) -> Never {
  guard let found = cases.first(where: { $0.name == name }) else {
    print("no such case")
    exit(2)
  }
  Thread.detachNewThread {
    let finished = returns(within: found.seconds) {
      print(found.run())
      exit(0)
    }
    print(finished ? "" : "hung: no answer in \(rounded(found.seconds))")
    exit(0)
  }
  while true { RunLoop.main.run(until: .distantFuture) }
}

/// In the parent: starts a process for the case, and returns its output or how it ended abnormally.
func observe(_ name: String) throws -> String {
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
  process.arguments = ["--case", name]
  let pipe = Pipe()
  process.standardOutput = pipe
  process.standardError = FileHandle.nullDevice
  try process.run()
  let data = pipe.fileHandleForReading.readDataToEndOfFile()
  process.waitUntilExit()
  let text = String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
  let lastLine = text.components(separatedBy: "\n").last ?? ""
  guard process.terminationReason == .uncaughtSignal else { return lastLine }
  return "crashed with signal \(process.terminationStatus) \(lastLine)"
}

let arguments = CommandLine.arguments.dropFirst()
if arguments.first == "--case", let name = arguments.dropFirst().first { runCase(name) }
for (name, _, _) in cases where arguments.isEmpty || arguments.contains(where: name.contains) {
  print("\(name): \(try observe(name))")
  fflush(nil)
}
