#if Jobs
import Foundation

/// The user of the system who runs the tool, as the author of changes.
enum SystemUser {
  /// The name of the user and the machine, for example `anna@db1`, or `anna as root@db1` with `sudo`.
  static var name: String {
    name(
      user: getpwuid(geteuid()).map { String(cString: $0.pointee.pw_name) } ?? "\(geteuid())", machine: machine,
      environment: ProcessInfo.processInfo.environment)
  }

  static func name(user: String, machine: String, environment: [String: String]) -> String {
    let place = "\(user)@\(machine)"
    guard let person = environment["SUDO_USER"], !person.isEmpty, person != user else { return place }
    // Anyone can set the variable to a long text.
    return "\(person.prefix(100)) as \(place)"
  }

  /// The name of this machine, without asking the network.
  private static var machine: String {
    var bytes = [CChar](repeating: 0, count: 256)
    guard gethostname(&bytes, bytes.count - 1) == 0 else { return "localhost" }
    let name = bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
    return name.isEmpty ? "localhost" : String(decoding: name, as: UTF8.self)
  }
}
#endif
