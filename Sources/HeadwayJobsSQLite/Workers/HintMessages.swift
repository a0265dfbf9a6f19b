#if Jobs
import FoundationEssentials
import Headway
@_spi(JobStore) import HeadwayJobs
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// Sends hints to the other stores of a database and receives theirs, as datagrams between sockets in its folder.
///
/// Losing messages is harmless, because workers read the store once per second anyway. Therefore, nothing waits for a
/// full or missing socket, and a store works without sockets if the path of its folder is too long for them.
final class HintMessages: Sendable {
  private struct State {
    var receiver: HintReceiver?
    /// The sockets of the other stores, and when the folder was read.
    var others: [String] = []
    var read: ContinuousClock.Instant?
    var isClosed = false
  }

  private let folder: String
  private let descriptor: Int32
  private let state = Mutex(State())

  /// The maximum time until a new process is noticed.
  private static let folderInterval = Duration.milliseconds(100)
  /// The maximum length of a message in bytes.
  private static let maxLength = 32 * 1_024
  private static let maxFinishedCount = 1_000
  static let suffix = ".socket"

  init(folder: String) {
    self.folder = folder
    descriptor = HintReceiver.makeSocket()
  }

  deinit { if descriptor >= 0 { _ = closeSocket(descriptor) } }

  /// Begins to receive hints; called when an observer is added.
  func receive(_ observers: HintObservers) {
    state.withLock { state in
      guard state.receiver == nil, !state.isClosed else { return }
      state.receiver = HintReceiver(folder: folder, observers)
    }
  }

  func close() {
    let receiver = state.withLock { state in
      state.isClosed = true
      return state.receiver.take()
    }
    receiver?.close()
  }

  /// Sends hints without waiting.
  func send(_ hints: JobHints) {
    guard descriptor >= 0, !hints.isEmpty else { return }
    let paths = others()
    guard !paths.isEmpty,
      let message = hints.message(
        separator: HintReceiver.separator, maxLength: Self.maxLength, maxFinishedCount: Self.maxFinishedCount)
    else { return }
    let bytes = Array(message.utf8)
    for path in paths {
      let code = HintReceiver.send(bytes, to: path, descriptor)
      // A process has ended without deleting its socket.
      if code == ECONNREFUSED { unlink(path) }
    }
  }

  private func others() -> [String] {
    state.withLock { state in
      let now = ContinuousClock.now
      if let read = state.read, now - read < Self.folderInterval { return state.others }
      state.read = now
      state.others = Self.sockets(in: folder).filter { $0 != state.receiver?.path }
      return state.others
    }
  }

  private static func sockets(in folder: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasSuffix(suffix) }.map { "\(folder)/\($0)" }
  }
}

/// The socket of a store, and the thread that reads from it.
final class HintReceiver: Sendable {
  let path: String
  private let descriptor: Int32
  private let isClosed = Atomic(false)

  private static let maxLength = 64 * 1_024
  /// The character between the parts of a message.
  static let separator: Character = "\0"

  /// Creates the socket and starts the thread; nil if either fails.
  init?(folder: String, _ observers: HintObservers) {
    path = "\(folder)/\(getpid())-\(UInt32.random(in: 0 ... .max))\(HintMessages.suffix)"
    descriptor = Self.makeSocket()
    guard descriptor >= 0 else { return nil }
    let code = Self.withAddress(path) { bind(descriptor, $0, $1) }
    guard code == 0, startThread(named: "headway-hints", { self.run(observers) }) == 0 else {
      _ = closeSocket(descriptor)
      unlink(path)
      return nil
    }
  }

  /// Ends the thread.
  func close() {
    isClosed.store(true, ordering: .sequentiallyConsistent)
    // An empty message interrupts the wait. If the socket is full, the thread does not wait.
    _ = Self.send([], to: path, descriptor)
    unlink(path)
  }

  private func run(_ observers: HintObservers) {
    var buffer = [UInt8](repeating: 0, count: Self.maxLength)
    while !isClosed.load(ordering: .sequentiallyConsistent) {
      let count = buffer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
      if count > 0 {
        let message = String(decoding: buffer[..<count], as: UTF8.self)
        observers.send(JobHints(message: message, separator: Self.separator))
      }
      if count < 0, errno != EINTR { break }
    }
    _ = closeSocket(descriptor)
  }

  // MARK: Sockets

  static func makeSocket() -> Int32 {
    #if canImport(Darwin)
    let descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
    if descriptor >= 0 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    #elseif canImport(Glibc)
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    #else
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM) | Int32(SOCK_CLOEXEC), 0)
    #endif
    return descriptor
  }

  /// Sends a message without waiting.
  ///
  /// - Returns: 0, or the number of the error.
  static func send(_ message: [UInt8], to path: String, _ descriptor: Int32) -> Int32 {
    let code = withAddress(path) { address, length in
      message.withUnsafeBytes { sendto(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT), address, length) }
    }
    return code < 0 ? errno : 0
  }

  /// Calls a function with the address of a socket.
  ///
  /// - Returns: The value that the function returns; −1 if the path is too long.
  private static func withAddress<Code: SignedInteger>(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Code
  ) -> Code {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
      errno = ENAMETOOLONG
      return -1
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
  }
}

private func closeSocket(_ descriptor: Int32) -> Int32 { close(descriptor) }
#endif
