#if SQLite
  import Dispatch
  import Synchronization

  #if canImport(Darwin)
    import Darwin
  #else
    import Glibc
  #endif

  /// What Ctrl-C and `kill` do: the first asks to stop, a second ends the process at once.
  final class Signals: @unchecked Sendable {  // `sources` is written by the initialiser alone.
    // Protected by its lock.
    private let received = Mutex<Int32?>(nil)
    private var sources: [any DispatchSourceSignal] = []

    /// The signal that asked to stop, if one did.
    var stopSignal: Int32? { received.withLock { $0 } }

    /// Starts to listen.
    ///
    /// - Parameter stop: What to do at the first signal.
    init(stop: @escaping @Sendable () -> Void) {
      for number in [SIGINT, SIGTERM] {
        signal(number, SIG_IGN)
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global(qos: .userInteractive))
        source.setEventHandler { [self] in
          let isFirst = received.withLock { received in
            defer { received = received ?? number }
            return received == nil
          }
          // By the shell's convention, 128 and the signal.
          if isFirst { stop() } else { _exit(128 + number) }
        }
        source.resume()
        sources.append(source)
      }
    }
  }
#endif
