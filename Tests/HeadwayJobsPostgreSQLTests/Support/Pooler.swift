#if PostgreSQL
import Foundation
import HeadwayTestSupport

/// PgBouncer in the mode `transaction`, in front of a server.
final class Pooler: Sendable {
  private let process: Process
  private let folder: String

  init(_ server: PostgresServer) throws {
    folder = try PostgresServer.makeFolder()
    let settings = """
      [databases]
      * = host=\(server.folder) user=postgres
      [pgbouncer]
      listen_addr =
      unix_socket_dir = \(folder)
      auth_type = any
      pool_mode = transaction
      default_pool_size = 3
      max_client_conn = 100
      """
    try settings.write(toFile: folder + "/pgbouncer.ini", atomically: true, encoding: .utf8)
    process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    // It does not run as root.
    let user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
    process.arguments = (geteuid() == 0 ? user : []) + ["/usr/sbin/pgbouncer", "-q", folder + "/pgbouncer.ini"]
    try process.run()
    while !FileManager.default.fileExists(atPath: folder + "/.s.PGSQL.6432") {
      guard process.isRunning else {
        throw PostgresServer.Failure(description: "PgBouncer has ended. Run script/setup.")
      }
      usleep(10_000)
    }
  }

  deinit { stop() }

  var connectionString: String { "host=\(folder) port=6432 user=postgres dbname=postgres" }

  func stop() {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    try? FileManager.default.removeItem(atPath: folder)
  }
}
#endif
