// Declarations of another library, next to operations and queues.

// MARK: a property with the type of a library
// Imports: Foundation, Library

private final class WithPolicy: Operation, @unchecked Sendable {
  var policy: RetryPolicy?
  let limit: RateLimit? = nil
}

// MARK: functions of a library in subclasses
// Imports: Foundation, Library

private final class CallsLibrary: Operation, @unchecked Sendable {
  override func main() {
    diagnose("begin")
    finished(map(3))
    withOperationQueue("work")
  }
}

private final class QueueThatCallsLibrary: OperationQueue, @unchecked Sendable {
  func use() {
    diagnose("begin")
    addOperation { finished(map(3)) }
    withOperationQueue("work")
  }
}

// MARK: functions of the system in subclasses

private final class CallsSystem: Operation, @unchecked Sendable {
  override func main() {
    let descriptor = open("/dev/null", O_RDONLY)
    defer { close(descriptor) }
    var bytes: [UInt8] = [0]
    _ = (read(descriptor, &bytes, 1), write(descriptor, &bytes, 1), fsync(descriptor), dup(descriptor))
    _ = (clock(), time(nil), getpid(), random(), abs(-1), min(1, 2), max(1, 2), signal(SIGUSR1, SIG_IGN))
    dump(bytes)
    print(zip(bytes, bytes), sequence(first: 1) { $0 }, type(of: self), stride(from: 0, to: 1, by: 1))
    NSLog("%@", NSStringFromClass(CallsSystem.self))
    _ = (access("a", 0), remove("a"), rename("a", "b"), unlink("a"), mkdir("a", 0), rmdir("a"), kill(0, 0), usleep(0))
    _ = (socket(0, 0, 0), listen(0, 0), shutdown(0, 0), getenv("a"), isatty(0), strlen("a"), memcmp("a", "b", 1))
    withExtendedLifetime(self) { swap(&bytes[0], &bytes[0]) }
  }
}

private final class QueueThatCallsSystem: OperationQueue, @unchecked Sendable {
  static func elapsed() -> Int { Int(clock()) }
  func shutDown(_ descriptor: Int32) {
    waitUntilAllOperationsAreFinished()
    close(descriptor)
    dump(clock())
    DispatchQueue.global().async { close(descriptor) }
    addOperation { _ = (clock(), time(nil), sleep(0), wait(nil), pause(), sync()) }
    addBarrierBlock { print(min(1, 2), getpid(), exp(1.0), floor(1.5), index("a", 97) as Any) }
  }
}
