#if Dashboard
import HTTPTypes
import HeadwayWeb
import Hummingbird

/// Finds out which person a trusted proxy has signed in.
struct ProxySignIn: Sendable {
  private let proxy: JobsDashboardServer.Proxy
  private let networks: [NetworkRange]
  private let userHeader: HTTPField.Name
  private let roleHeader: HTTPField.Name?

  private static let maxNameLength = 512

  init(_ proxy: JobsDashboardServer.Proxy) throws {
    func header(_ name: String) throws -> HTTPField.Name {
      guard let header = HTTPField.Name(name) else {
        throw JobsDashboardError(.invalidProxy, "“\(name)” is not the name of a header.")
      }
      return header
    }
    self.proxy = proxy
    networks = try proxy.addresses.sorted().map { text in
      guard let network = NetworkRange(text) else {
        throw JobsDashboardError(
          .invalidProxy, "“\(text)” is not an IP address or a network. Use for example 127.0.0.1 or 10.1.0.0/16.")
      }
      guard network.length > 0 else {
        throw JobsDashboardError(
          .invalidProxy, "The network \(text) contains every address, so anyone could claim to be any person.")
      }
      return network
    }
    guard !networks.isEmpty else {
      throw JobsDashboardError(.invalidProxy, "The proxy that signs in people has no address. Name its address.")
    }
    userHeader = try header(proxy.userHeader)
    roleHeader = try proxy.roleHeader.map(header)
  }

  private func isTrusted(_ address: String) -> Bool { networks.contains { $0.contains(address) } }

  /// Returns the rights of the person who has sent a request; nil if no trusted proxy names the person.
  func access(of request: Request, from client: WebClient) -> JobsDashboard.Access? {
    guard isTrusted(client.address) else { return nil }
    // A second header might be from the browser.
    let names = request.headers[values: userHeader]
    guard names.count == 1, let name = names.first.map(Self.trimmed), !name.isEmpty,
      name.utf8.count <= Self.maxNameLength
    else { return nil }
    var access = JobsDashboard.Access(role: role(in: request), name: name)
    access.logOut = proxy.logOutAddress.map { .address($0) }
    return access
  }

  private func role(in request: Request) -> JobsDashboard.Access.Role {
    guard let roleHeader else { return proxy.role }
    let values = request.headers[values: roleHeader]
    guard values.count == 1, let value = values.first else { return .look }
    let roles = value.split { $0 == "," || $0 == "|" }.map(Self.trimmed)
    return proxy.operatorRoles.isDisjoint(with: roles) ? .look : .operate
  }

  /// Returns the browser that has sent a request, as far as trusted proxies know it.
  func browser(of request: Request, from client: WebClient) -> WebClient {
    guard isTrusted(client.address), let header = HTTPField.Name("X-Forwarded-For") else { return client }
    let addresses = request.headers[values: header].flatMap { $0.split(separator: ",") }.map(Self.trimmed)
    // Each proxy adds the address of its client at the end, and browsers can send any text.
    let address = addresses.last { !isTrusted($0) }
    return address.flatMap { NetworkRange($0) == nil ? nil : WebClient($0) } ?? client
  }

  /// Returns a request without the headers that name a person.
  func withoutHeaders(_ request: Request) -> Request {
    var head = request.head
    head.headerFields[values: userHeader] = []
    if let roleHeader { head.headerFields[values: roleHeader] = [] }
    return Request(head: head, body: request.body)
  }

  private static func trimmed(_ text: some StringProtocol) -> String {
    let begin = text.drop { $0 == " " || $0 == "\t" }
    return String(begin.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
  }
}
#endif
