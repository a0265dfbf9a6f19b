#if Dashboard
import HTTPTypes
import Hummingbird
import NIOCore

/// A file that all pages share, which is embedded in the program.
///
/// It contains nothing about jobs.
struct StaticFile: Sendable {
  let name: String
  let type: String
  let bytes: [UInt8]

  private static let all = [
    StaticFile(name: "style.css", type: "text/css; charset=utf-8", bytes: PackageResources.style_css),
    // See Docs/decisions/0043-live-pages.md.
    StaticFile(name: "live.js", type: "text/javascript; charset=utf-8", bytes: PackageResources.live_js),
    StaticFile(name: "morph.js", type: "text/javascript; charset=utf-8", bytes: PackageResources.morph_js),
    StaticFile(name: "stream.js", type: "text/javascript; charset=utf-8", bytes: PackageResources.stream_js),
    StaticFile(name: "keys.js", type: "text/javascript; charset=utf-8", bytes: PackageResources.keys_js),
    StaticFile(name: "lists.js", type: "text/javascript; charset=utf-8", bytes: PackageResources.lists_js),
    StaticFile(name: "zone.js", type: "text/javascript; charset=utf-8", bytes: PackageResources.zone_js),
    StaticFile(name: "icon.svg", type: "image/svg+xml", bytes: PackageResources.icon_svg),
  ]

  static func named(_ name: String?) -> StaticFile? { all.first { $0.name == name } }

  var response: Response {
    Response(
      status: .ok, headers: [.contentType: type, .cacheControl: "private, max-age=60"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
  }
}
#endif
