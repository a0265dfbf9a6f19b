#if PostgreSQL
import Foundation
import Headway
import Synchronization

/// A PostgreSQL server in a temporary folder, on a Unix socket.
///
/// A shell starts the server and executes the commands of this process. When the pipe from this process is closed, even
/// because the process has crashed, the shell stops the server and deletes the folder.
package final class PostgresServer: Sendable {
  /// How a server is stopped.
  package enum StopMode: String {
    /// Connections are closed, and transactions are rolled back.
    case fast = "INT"
    /// The processes end immediately, and the server recovers when it starts again.
    case immediate = "QUIT"
  }

  package struct Failure: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
  }

  /// The server for all tests that don't stop it.
  package static func shared() throws -> PostgresServer { try sharedServer.get() }

  private static let sharedServer = Result { try PostgresServer() }

  /// The folder of the socket.
  package let folder: String
  private let process: Process
  private let commands: FileHandle
  private let answers: FileHandle

  /// Starts a server.
  ///
  /// - Parameters:
  ///   - address: An IPv4 address of this machine where the server listens, too, without authentication.
  ///   - primary: The server that this one is a standby of; nil for an independent server.
  /// - Throws: ``Failure`` if there is no server on this machine, or if it does not start.
  package init(address: String = "", standbyOf primary: PostgresServer? = nil) throws {
    guard let programs = Self.programs else {
      throw Failure(description: "There is no PostgreSQL server on this machine. Run script/setup.")
    }
    folder = try Self.makeFolder()
    process = Process()
    let shell = ["sh", "-c", Self.script, "sh", folder, programs, address, primary?.folder ?? ""]
    let user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"]
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = (geteuid() == 0 ? user : []) + shell
    let (input, output) = (Pipe(), Pipe())
    process.standardInput = input
    process.standardOutput = output
    (commands, answers) = (input.fileHandleForWriting, output.fileHandleForReading)
    try process.run()
    try expect("ready")
  }

  deinit { try? commands.close() }

  /// Creates a temporary folder whose path is short enough for a socket.
  package static func makeFolder() throws -> String {
    var template = Array("/tmp/headway-pg-\(String(repeating: "X", count: 6))".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure(description: "There is no temporary folder.") }
    let folder = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
    // The server does not run as root, and its user must be able to delete the folder.
    if geteuid() == 0, let user = getpwnam("postgres") { chown(folder, user.pointee.pw_uid, user.pointee.pw_gid) }
    return folder
  }

  /// The connection string for a database.
  package var connectionString: String { "host=\(folder) user=postgres dbname=postgres" }

  /// The connection string as a URL.
  package var url: String { "postgres://postgres@/postgres?host=\(folder)" }

  package func stop(_ mode: StopMode) throws {
    try commands.write(contentsOf: Data("\(mode.rawValue)\n".utf8))
    try expect("stopped")
  }

  /// Starts the server again.
  ///
  /// - Parameter environment: Variables for the server, each as `NAME=VALUE`.
  /// - Throws: ``Failure`` if the server does not start.
  package func start(environment: [String] = []) throws {
    try commands.write(contentsOf: Data("start \(environment.joined(separator: " "))\n".utf8))
    try expect("ready")
  }

  private func expect(_ answer: String) throws {
    var text = ""
    while !text.hasSuffix("\n") {
      let data = answers.availableData
      guard !data.isEmpty else {
        let log = (try? String(contentsOfFile: folder + "/log", encoding: .utf8)) ?? ""
        throw Failure(description: "The server has ended: \(log.suffix(2_000))")
      }
      text += String(decoding: data, as: UTF8.self)
    }
    guard text == "\(answer)\n" else { throw Failure(description: "The server answered \(text), not \(answer).") }
  }

  /// The folder of the newest server programs.
  private static let programs: String? = {
    let roots = ["/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt"]
    let folders = roots.flatMap { root in
      ((try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []).map { "\(root)/\($0)/bin" }
    }
    return folders.filter { FileManager.default.isExecutableFile(atPath: "\($0)/postgres") }.max()
  }()

  private static let script = """
    folder=$1
    programs=$2
    address=$3
    primary=$4
    trap '' HUP INT TERM
    start() {
      env "$@" "$programs/postgres" -D "$folder/data" >>"$folder/log" 2>&1 &
      server=$!
      until "$programs/pg_isready" -q -h "$folder"; do
        kill -0 "$server" 2>/dev/null || exit 1
        sleep 0.02
      done
      echo ready
    }
    if [ -n "$primary" ]; then
      "$programs/pg_basebackup" -h "$primary" -U postgres -D "$folder/data" -R -c fast --no-sync
    else
      "$programs/initdb" -D "$folder/data" -A trust -U postgres -E UTF8 --locale=C --no-sync
    fi >"$folder/log" 2>&1 || exit 1
    cat >>"$folder/data/postgresql.conf" <<END
    listen_addresses = '$address'
    unix_socket_directories = '$folder'
    max_connections = 300
    fsync = off
    shared_buffers = 64MB
    END
    [ -z "$address" ] || echo "host all all $address/24 trust" >>"$folder/data/pg_hba.conf"
    start
    while read -r command environment; do
      case $command in
        start) start $environment ;;
        *) kill "-$command" "$server"; wait "$server"; echo stopped ;;
      esac
    done
    kill -QUIT "$server" 2>/dev/null
    wait
    rm -rf "$folder"
    """
}
#endif
