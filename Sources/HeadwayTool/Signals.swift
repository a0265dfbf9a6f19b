#if SQLite
import Dispatch
import Synchronization

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// Handles Ctrl-C and `kill`: the first signal requests a stop, and a second one stops the process immediately.
///
/// A hang-up that is ignored when the process starts, as with `nohup`, stays ignored.
final class Signals: @unchecked Sendable {  // Only the initializer writes `sources`.
  // Protected by its lock.
  private let received = Mutex<Int32?>(nil)
  private var sources: [any DispatchSourceSignal] = []

  /// The signal that requested a stop.
  ///
  /// Nil if there was none.
  var stopSignal: Int32? { received.withLock { $0 } }

  /// Starts to handle signals.
  ///
  /// Until this initializer returns, a signal stops the process as usual.
  ///
  /// - Parameter stop: Called at the first signal.
  init(stop: @escaping @Sendable () -> Void) {
    let numbers = [SIGINT, SIGTERM] + (Self.ignoresHangUp ? [] : [SIGHUP])
    // Sources start to handle signals at some time after `resume()`. If the signals were ignored earlier, a signal that
    // arrives in between would be lost.
    let installing = DispatchGroup()
    for number in numbers {
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global(qos: .userInteractive))
      source.setEventHandler { [self] in
        let isFirst = received.withLock { received in
          defer { received = received ?? number }
          return received == nil
        }
        // By the shell's convention, 128 plus the signal.
        guard !isFirst else { return stop() }
        PrivateFolder.removeAll()
        _exit(128 + number)
      }
      installing.enter()
      source.setRegistrationHandler { installing.leave() }
      source.resume()
      sources.append(source)
    }
    installing.wait()
    #if canImport(Darwin)
    // On those platforms, a source only observes the signal; elsewhere it handles the signal itself.
    for number in numbers { signal(number, SIG_IGN) }
    #endif
  }

  private static var ignoresHangUp: Bool {
    var action = sigaction()
    guard sigaction(SIGHUP, nil, &action) == 0 else { return false }
    #if canImport(Darwin)
    let handler = action.__sigaction_u.__sa_handler
    #else
    let handler = action.__sigaction_handler.sa_handler
    #endif
    return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }
}
#endif
