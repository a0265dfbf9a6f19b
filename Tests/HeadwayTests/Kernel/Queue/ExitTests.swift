import Dispatch
import Headway
import HeadwayTestKit
import Synchronization
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

@Suite("Exit and fork", .hangLimit) struct ExitTests {
  @Test("T5: a process exits while operations spin, sleep, wait, are added and finish") func exits() async {
    for _ in 0..<5 {
      await #expect(processExitsWith: .success) {
        Self.keepBusy()
        exit(0)
      }
    }
  }

  #if os(Linux)
  @Test("T5: a child of fork exits, or executes another program, while its parent's pool works") func fork() async {
    await #expect(processExitsWith: .success) {
      let isOver = Self.keepBusy()
      // Created before the fork. A child has only the thread that called fork. Creating something there can require a
      // lock of the runtime or of the allocator, and another thread of the parent might have held that lock.
      let shell = strdup("/bin/sh")
      let arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: 4)
      for (position, argument) in ["/bin/sh", "-c", "exit 7"].enumerated() { arguments[position] = strdup(argument) }
      arguments[3] = nil
      for number in 0..<20 {
        // A fork of a process that runs with ThreadSanitizer takes seconds.
        noteProgress(of: "Forks", "\(number)")
        let child = forkProcess()
        if child == 0 {
          if number % 2 == 0 { _exit(7) }
          if let shell { execv(shell, arguments) }
          _exit(1)
        }
        #expect(exitStatus(of: child) == 7)
      }
      // The parent's pool is as it was.
      isOver.open()
      OperationQueue().addOperations([BlockOperation {}], waitUntilFinished: true)
    }
  }
  #endif

  /// Makes operations spin, sleep, wait for each other, wait behind others and add more, until the gate is opened.
  @discardableResult
  private static func keepBusy() -> Gate {
    let isOver = Gate()
    let (queue, stream) = (OperationQueue(), OperationQueue())
    @Sendable func goOn() {
      if !isOver.isOpen { stream.addOperation { goOn() } }
    }
    for _ in 0..<4 { stream.addOperation { goOn() } }
    let meeting = Meeting(of: 5)
    for number in 0..<4 {
      queue.addOperation {
        meeting.attend()
        while number % 2 == 0, !isOver.isOpen {}
        isOver.wait()
      }
    }
    meeting.attend()
    queue.addBarrierBlock {}
    for _ in 0..<100 { queue.addOperation {} }
    return isOver
  }
}
