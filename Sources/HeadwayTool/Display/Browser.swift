#if SQLite && Web
import Foundation

/// The browser of the user who runs the tool.
enum Browser {
  /// Opens an address.
  ///
  /// If there is no browser, this has no effect.
  static func open(_ address: String) {
    let process = Process()
    #if os(macOS)
    process.executableURL = URL(fileURLWithPath: "/usr/bin/open")
    #else
    process.executableURL = URL(fileURLWithPath: "/usr/bin/xdg-open")
    #endif
    process.arguments = [address]
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try? process.run()
  }
}
#endif
