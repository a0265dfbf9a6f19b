#if Lab
import AsyncHTTPClient
import HeadwayTestSupport
import NIOCore
import NIOHTTP1
import Testing

@Suite("Access to the lab", .hangLimit) struct SecurityTests {
  private let json = "application/json"

  @Test("Only requests with a local host name and the correct port are answered") func host() async throws {
    try await RunningLab.with { lab in
      let port = lab.origin.split(separator: ":").last ?? ""
      for name in ["localhost:\(port)", "127.0.0.1:\(port)"] {
        expect(try await lab.get("", headers: ["Host": name]).status, is: .ok)
      }
      for name in ["example.org", "example.org:\(port)", "127.0.0.1", "localhost:1"] {
        expect(try await lab.get("", headers: ["Host": name]).status, is: .misdirectedRequest)
      }
    }
  }

  @Test("Requests from pages of other sites are rejected") func origin() async throws {
    try await RunningLab.with { lab in
      let body = #"{"isSuspended": true}"#
      for origin in ["http://example.org", "https://example.org", "null"] {
        let headers: HTTPHeaders = ["Content-Type": json, "Origin": origin]
        expect(try await lab.post("api/settings", body, headers: headers), is: 403)
      }
      // Behind a proxy that encrypts the connection, the origin of the page is the same host with https.
      for origin in [lab.origin, "https" + lab.origin.dropFirst(4)] {
        let own: HTTPHeaders = ["Content-Type": json, "Origin": origin]
        expect(try await lab.post("api/settings", body, headers: own), is: 202)
      }
      // A form of another page could send this without a preflight request.
      let text: HTTPHeaders = ["Content-Type": "text/plain"]
      expect(try await lab.post("api/settings", body, headers: text), is: 415)
    }
  }

  @Test("A page of another site can link to the page but can't request anything else") func otherSites() async throws {
    try await RunningLab.with { lab in
      let link: HTTPHeaders = ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"]
      expect(try await lab.get("", headers: link).status, is: .ok)
      expect(try await lab.get("lab.js", headers: link).status, is: .forbidden)
      for site in ["cross-site", "same-site"] {
        let headers: HTTPHeaders = ["Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors"]
        for path in ["", "events", "lab.js"] {
          expect(try await lab.get(path, headers: headers).status, is: .forbidden)
        }
      }
      for site in ["same-origin", "none"] {
        expect(try await lab.get("lab.js", headers: ["Sec-Fetch-Site": site]).status, is: .ok)
      }
    }
  }

  @Test("Requests that change state must use POST") func methods() async throws {
    try await RunningLab.with { lab in
      for path in ["api/run", "api/cancel", "api/settings", "api/import/start", "api/lines/start"] {
        let status = try await lab.get(path).status
        #expect(status == .notFound || status == .methodNotAllowed)
      }
    }
  }

  @Test(
    "Each response forbids external scripts and framing", arguments: ["", "lab.js", "nothing"])
  func headers(path: String) async throws {
    try await RunningLab.with { lab in
      let headers = try await lab.get(path).headers
      let policy = try #require(headers.first(name: "Content-Security-Policy"))
      #expect(policy.contains("default-src 'none'; script-src 'self'; style-src 'self'"))
      #expect(policy.contains("frame-ancestors 'none'"))
      #expect(!policy.contains("unsafe"))
      #expect(headers.first(name: "X-Content-Type-Options") == "nosniff")
    }
  }

  @Test("A token is required if other machines can connect, and a cookie stores it") func token() async throws {
    try await RunningLab.with(listen: "127.0.0.1") { printed in
      let parts = printed.address.split(separator: "?", maxSplits: 1)
      #expect(parts.count == 2 && parts[1].hasPrefix("token="))
      var lab = RunningLab(lab: printed.lab, address: String(parts[0]))
      let refusal = try await lab.get("")
      expect(refusal.status, is: .forbidden)
      expect(
        String(buffer: try await refusal.body.collect(upTo: 1_000)),
        is: "Open the address that “headway lab” has printed, with its token.\n")
      expect(try await lab.get("events").status, is: .forbidden)
      expect(try await lab.post("api/cancel", "{}"), is: 403)
      expect(try await lab.get("?token=guessed").status, is: .forbidden)
      var configuration = HTTPClient.Configuration()
      configuration.redirectConfiguration = .disallow
      configuration.timeout.connect = .hours(1)
      let client = HTTPClient(configuration: configuration)
      let answer = try await client.execute(lab.request("?" + parts[1]), deadline: .distantFuture)
      try await client.shutdown()
      #expect(answer.status == .seeOther)
      let cookie = try #require(answer.headers.first(name: "Set-Cookie"))
      #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Lax"))
      // A browser sends the cookies of a host to all of its ports.
      let port = try #require(printed.address.split(separator: "/").dropFirst().first?.split(separator: ":").last)
      #expect(cookie.hasPrefix("headway-lab-\(port)="))
      lab.cookie = cookie.split(separator: ";").first.map(String.init)
      expect(try await lab.get("").status, is: .ok)
      expect(try await lab.post("api/cancel", "{}"), is: 202)
    }
  }
}
#endif
