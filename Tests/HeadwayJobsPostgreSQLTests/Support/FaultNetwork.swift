#if PostgreSQL
import Foundation
import HeadwayTestSupport

/// A cable between this machine and a network namespace, where a worker runs: a pair of virtual Ethernet devices.
///
/// It needs root, and Linux.
final class FaultNetwork: Sendable {
  /// The packets that are lost without an answer, as if a cable were pulled.
  enum Fault: CaseIterable { case all, toServer, toWorker }

  static let isPossible = geteuid() == 0

  private let name = "headway\(getpid() % 10_000)"
  // Addresses for tests of networks (RFC 2544).
  private let subnet = "198.18.\(getpid() % 256)"

  private var near: String { "\(name)a" }
  private var far: String { "\(name)b" }

  /// The address of this machine.
  var serverAddress: String { "\(subnet).1" }
  private var workerAddress: String { "\(subnet).2" }

  /// The arguments of `env` that execute a program in the namespace.
  var launcher: [String] { ["ip", "netns", "exec", name] }

  init() throws {
    try ip("netns", "add", name)
    try ip("link", "add", near, "type", "veth", "peer", "name", far, "netns", name)
    try ip("addr", "add", "\(serverAddress)/24", "dev", near)
    try ip("link", "set", near, "up")
    try ip("-n", name, "addr", "add", "\(workerAddress)/24", "dev", far)
    try ip("-n", name, "link", "set", far, "up")
  }

  deinit {
    try? ip("link", "del", near)
    try? ip("netns", "del", name)
  }

  /// Begins to lose packets.
  func begin(_ fault: Fault) throws {
    switch fault {
    case .all: try ip("link", "set", near, "down")
    // Packets to a device that does not exist are lost.
    case .toServer: try ip("-n", name, "neigh", "replace", serverAddress, "lladdr", Self.nobody, "dev", far)
    case .toWorker: try ip("neigh", "replace", workerAddress, "lladdr", Self.nobody, "dev", near)
    }
  }

  /// Ends the loss of packets.
  func end(_ fault: Fault) throws {
    switch fault {
    case .all: try ip("link", "set", near, "up")
    case .toServer: try ip("-n", name, "neigh", "del", serverAddress, "dev", far)
    case .toWorker: try ip("neigh", "del", workerAddress, "dev", near)
    }
  }

  private static let nobody = "02:00:00:00:00:99"

  private func ip(_ arguments: String...) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["ip"] + arguments
    let errors = Pipe()
    process.standardError = errors
    try process.run()
    let message = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw PostgresServer.Failure(description: "ip \(arguments.joined(separator: " ")): \(message)")
    }
  }
}
#endif
