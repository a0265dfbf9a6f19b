#if SQLite
import Dispatch
import Synchronization

#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// What Ctrl-C and `kill` do: the first asks to stop, a second ends the process at once.
///
/// A hang-up that is ignored when the process begins, as `nohup` has it, stays ignored.
final class Signals: @unchecked Sendable {  // `sources` is written by the initialiser alone.
  // Protected by its lock.
  private let received = Mutex<Int32?>(nil)
  private var sources: [any DispatchSourceSignal] = []

  /// The signal that asked to stop, if one did.
  var stopSignal: Int32? { received.withLock { $0 } }

  /// Starts to listen; until it does, and that is when this returns, a signal ends the process as usual.
  ///
  /// - Parameter stop: What to do at the first signal.
  init(stop: @escaping @Sendable () -> Void) {
    let numbers = [SIGINT, SIGTERM] + (Self.ignoresHangUp ? [] : [SIGHUP])
    // Sources begin to listen at some time after `resume()`. Ignoring the signals before that would lose one that
    // comes between.
    let installing = DispatchGroup()
    for number in numbers {
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global(qos: .userInteractive))
      source.setEventHandler { [self] in
        let isFirst = received.withLock { received in
          defer { received = received ?? number }
          return received == nil
        }
        // By the shell's convention, 128 and the signal.
        if isFirst { stop() } else { _exit(128 + number) }
      }
      installing.enter()
      source.setRegistrationHandler { installing.leave() }
      source.resume()
      sources.append(source)
    }
    installing.wait()
    #if canImport(Darwin)
    // There a source only looks on; elsewhere it handles the signal itself.
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
