import Foundation

func openForReading(_ path: String) -> Int32 { open(path, O_RDONLY | O_CLOEXEC) }

func openForWriting(_ path: String) -> Int32 { open(path, O_WRONLY | O_CLOEXEC) }

func closeDescriptor(_ descriptor: Int32) { _ = close(descriptor) }

/// Runs blocking code on its own thread.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
  await withCheckedContinuation { continuation in
    Thread.detachNewThread { continuation.resume(returning: body()) }
  }
}
