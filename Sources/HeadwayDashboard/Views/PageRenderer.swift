#if Dashboard
import HTTPTypes
import HeadwayJobs
import Hummingbird
import NIOCore

/// Renders the pages.
struct PageRenderer: Sendable {
  let jobs: Jobs
  let options: JobsDashboard.Options
  let changes: RunningChanges
  let healthWatch: HealthWatch
  /// The relative address of the first page, without a trailing slash.
  let base: String

  /// The greatest number that lists count to.
  static let countLimit = 10_000

  init(_ dashboard: JobsDashboard, base: String) {
    (jobs, options, changes, self.base) = (dashboard.jobs, dashboard.options, dashboard.changes, base)
    healthWatch = dashboard.healthWatch
  }

  /// A page: its name, its title, and the values of its template.
  struct Page {
    var template: String
    var heading: String
    var view: View
  }

  /// The names of the pages with an entry in the menu.
  private static let menu = [
    ("", "Overview"), ("queues", "Queues"), ("jobs", "Jobs"), ("errors", "Errors"), ("trends", "Trends"),
    ("schedules", "Schedules"), ("workers", "Workers"), ("changes", "Changes"), ("health", "Health"),
  ]

  /// Returns whether a path is that of a page with an entry in the menu.
  static func isPage(_ path: String) -> Bool { menu.contains { "/\($0.0)" == path } }

  func response(to call: Call) async throws -> Response {
    // The former address of the page of errors.
    if call.path == ["failures"] {
      return Response(status: .movedPermanently, headers: [.location: url("errors")])
    }
    if let format = call.path.first.flatMap(ListExport.Format.init), call.path.count == 1 {
      return try ListExport.response(format, call.query, ListSearch(jobs, hiding: options.redactedKeys))
    }
    // The overview and the queues show what the checks compare, so it is read once. The checks read the rest while the
    // page does.
    let reading = call.path.isEmpty || call.path == ["queues"] ? try await healthWatch.read() : nil
    async let report = healthWatch.report(using: reading)
    let page = try await page(for: call, reading?.store)
    var view = page.view
    // The page about the health has all of it.
    view["health"] = page.template == "health" ? nil : healthSign(await report)
    view["notice"] = Notice.text(for: call.query, changes)
    return Self.response(.ok, render(page.template, page.heading, view, call))
  }

  private func page(for call: Call, _ reading: StoreReading?) async throws -> Page {
    if let reading { return call.path.isEmpty ? try await overview(reading) : queues(call, reading) }
    return switch (call.path.first, call.path.count) {
    case ("jobs", 1): try await jobList(call)
    case ("job", 2): try await job(call, call.path[1])
    case ("errors", 1): try await errors(call)
    case ("trends", 1): try await trends(call)
    case ("schedules", 1): try await schedules(call)
    case ("workers", 1): try await workers(call)
    case ("changes", 1): try await changeList(call)
    case ("health", 1): try await health(call)
    case ("confirm", 1): try await confirm(call)
    default: throw Refusal.noPage
    }
  }

  private func render(_ template: String, _ heading: String, _ view: View, _ call: Call?) -> String {
    var view = view
    view["heading"] = heading
    // A page that asks for confirmation keeps showing the jobs at the time when it was opened.
    view["isLive"] = view["isLive"] ?? (template != "confirm")
    view["site"] = options.title
    view["base"] = base
    view["home"] = base + "/"
    view["isReadOnly"] = call.map { !$0.canChange } ?? false
    view["canChange"] = call?.canChange ?? false
    view["person"] = call?.access.name
    view["canLogOut"] = call?.access.logOut == .form
    if case .address(let address)? = call?.access.logOut { view["logOutURL"] = address }
    view["token"] = call?.token ?? ""
    view["zone"] = PageZone.current.name
    let current = call.map { $0.path.first == "job" || $0.path.first == "confirm" ? "jobs" : $0.path.first ?? "" }
    view["menu"] = Self.menu.map { path, name -> View in
      ["url": "\(base)/\(path)", "name": name, "key": name.prefix(1).lowercased(), "isCurrent": path == current]
    }
    return Templates.shared.render(template, view)
  }

  private static func response(_ status: HTTPResponse.Status, _ text: String) -> Response {
    Response(
      status: status, headers: [.contentType: "text/html; charset=utf-8"],
      body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
  }

  /// Returns the page for an error.
  func response(for error: any Error) -> Response {
    let refusal = Refusal(error)
    let heading = "\(refusal.status.code) \(refusal.status.reasonPhrase)"
    // The page works again when the store does.
    let view: View = ["message": refusal.text, "isLive": refusal.status.code >= 500]
    return Self.response(refusal.status, render("message", heading, view, nil))
  }

  /// Returns the page for people who have not logged in.
  static func loginPage(for error: any Error, base: String, _ people: KnownPeople) -> Response {
    let refusal = Refusal(error)
    let view: View = [
      "message": refusal.text, "acceptsPassword": people.acceptPasswords, "acceptsNames": people.acceptNames,
      "needsName": people.needNames, "heading": "Log in", "base": base,
    ]
    return response(refusal.status, Templates.shared.render("login", view))
  }

  /// Returns a URL of the dashboard.
  func url(_ path: String, _ fields: KeyValuePairs<String, String?> = [:]) -> String {
    Link.to("\(base)/\(path)", fields)
  }
}

/// A button that sends a change.
struct ChangeButton {
  /// Returns the values of a button.
  static func view(
    _ label: String, _ action: String, _ fields: KeyValuePairs<String, String>, style: String = ""
  ) -> View {
    let all = [("action", action)] + fields.map { ($0.key, $0.value) }
    return ["label": label, "style": style, "fields": all.map { ["name": $0.0, "value": $0.1] as View }]
  }
}
#endif
