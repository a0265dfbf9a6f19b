#if Dashboard
import Headway
import Mustache

/// The values of a template by name: text, numbers, truth values, and lists of other values.
typealias View = [String: Any]

/// The templates of all pages, which are embedded in the program.
struct Templates: Sendable {
  /// The templates.
  static let shared = Templates()

  private let library: MustacheLibrary

  private init() {
    MustacheContentTypes.register(PageText(), named: PageText.name)
    var library = MustacheLibrary()
    let sources: [(String, [UInt8])] = [
      ("layout", PackageResources.layout_mustache), ("button", PackageResources.button_mustache),
      ("time", PackageResources.time_mustache), ("moment", PackageResources.moment_mustache),
      ("jobrows", PackageResources.jobrows_mustache), ("finding", PackageResources.finding_mustache),
      ("overview", PackageResources.overview_mustache),
      ("queues", PackageResources.queues_mustache), ("jobs", PackageResources.jobs_mustache),
      ("job", PackageResources.job_mustache), ("errors", PackageResources.errors_mustache),
      ("schedules", PackageResources.schedules_mustache), ("workers", PackageResources.workers_mustache),
      ("trends", PackageResources.trends_mustache), ("plot", PackageResources.plot_mustache),
      ("numbers", PackageResources.numbers_mustache), ("health", PackageResources.health_mustache),
      ("confirm", PackageResources.confirm_mustache), ("changes", PackageResources.changes_mustache),
      ("message", PackageResources.message_mustache), ("login", PackageResources.login_mustache),
    ]
    for (name, bytes) in sources {
      do {
        // A template begins with the content type, because each partial template begins with the default one.
        try library.register(
          "{{% CONTENT_TYPE: \(PageText.name)}}" + String(decoding: bytes, as: UTF8.self), named: name)
      } catch {
        misuse("The template \(name) is not valid: \(error)")
      }
    }
    self.library = library
  }

  /// Renders a page.
  func render(_ name: String, _ view: View) -> String {
    guard let text = library.render(view, withTemplate: name) else {
      misuse("There is no template \(name).")
    }
    return text
  }
}

/// Text in pages: characters with a meaning in HTML are escaped.
///
/// Mustache's own function looks at whole characters and leaves a quotation mark as it is if a combining mark follows.
/// A browser does not, and would end an attribute there.
struct PageText: MustacheContentType {
  static let name = "PAGE"

  func escapeText(_ text: String) -> String {
    var escaped = ""
    escaped.reserveCapacity(text.utf8.count)
    for scalar in text.unicodeScalars {
      switch scalar {
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "&": escaped += "&amp;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      case _ where Self.isReplaced(scalar): escaped.unicodeScalars.append("\u{FFFD}")
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// Returns whether a replacement character is shown instead of a character.
  static func isReplaced(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar {
    // The last two groups change the direction of the text around them.
    case "\u{0}", "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}": true
    default: false
    }
  }
}
#endif
