#if Dashboard
import Foundation
import Headway
@_spi(JobStore) import HeadwayJobs
import NIOHTTP1
import Testing

@testable import HeadwayDashboard

@Suite("The list of jobs", .hangLimit) struct ListTests {
  @Test("J360: selected rows are changed after they were shown, and without a selected row nothing is changed")
  func selection() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      var ids: [JobID] = []
      for _ in 0..<4 { ids.append(try await scene.enqueue()) }
      let list = try await dashboard.page("/jobs?kind=mail")
      #expect(list.contains("<input type=\"checkbox\" name=\"job\" value=\"\(ids[2])\""))
      #expect(list.contains("<button name=\"action\" value=\"cancel\">Cancel selected…</button>"))
      let query = "kind=mail&selected=1&job=\(ids[0])&job=\(ids[2])"
      let page = try await dashboard.page("/confirm?action=cancel&\(query)")
      #expect(page.contains("<h1>Cancel 2 jobs?</h1>"))
      #expect(page.contains("the jobs \(ids[0]), \(ids[2])"))
      #expect(page.contains("<a href=\"./jobs?kind=mail\">Back</a>"))
      let until = String(try #require(page.firstMatch(of: /name="until" value="(\d+)"/)).1)
      let result = try await dashboard.change([
        "action": "cancel", "kind": "mail", "until": until, "selected": "1", "job": "\(ids[0])", "job": "\(ids[2])",
      ])
      #expect(result.contains("Cancelled: 2 jobs."))
      for (index, id) in ids.enumerated() {
        expect(try await scene.state(id), is: index.isMultiple(of: 2) ? .cancelled : .waiting)
      }
      // One of these has ended in the meantime.
      let mixed = try await dashboard.page("/confirm?action=cancel&selected=1&job=\(ids[0])&job=\(ids[1])")
      #expect(mixed.contains("<h1>Cancel 1 job?</h1>"))
      #expect(mixed.contains("1 selected job is in another state, so it remains as it is."))
      let nothing = try await dashboard.page("/confirm?action=cancel&kind=mail&selected=1")
      #expect(nothing.contains("There is nothing to change."))
      let none = try await dashboard.change(["action": "cancel", "kind": "mail", "until": until, "selected": "1"])
      #expect(none.contains("Cancelled: 0 jobs."))
      expect(try await scene.state(ids[1]), is: .waiting)
      let many = (0...200).map { "&job=\($0)" }.joined()
      expect(try await dashboard.get("/confirm?action=cancel&selected=1\(many)").status, is: .badRequest)
    }
  }

  @Test("J360: a person who may only view the pages sees no checkboxes")
  func readOnlySelection() async throws {
    var options = JobsDashboard.Options()
    options.isReadOnly = true
    try await RunningDashboard.with(options) { dashboard in
      try await Scene(dashboard.jobs).enqueue()
      let list = try await dashboard.page("/jobs")
      #expect(list.contains("data-key"))
      #expect(!list.contains("name=\"job\""))
    }
  }

  @Test("J361: jobs are found by shown parts of their payloads, but not by hidden values")
  func payload() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      let first = try await scene.enqueue("mail", #"{"customer":17,"password":"hunter2"}"#)
      try await scene.enqueue("mail", #"{"customer":18}"#)
      let found = try await dashboard.page("/jobs?payload=%22customer%22%3A17")
      #expect(found.contains("<tr data-key=\"\(first)\">"))
      #expect(found.contains("<span id=\"count\">1 job</span>"))
      #expect(found.contains("value=\"&quot;customer&quot;:17\""))
      for query in ["payload=hunter", "payload=%22password%22%3A%22h"] {
        let page = try await dashboard.page("/jobs?\(query)")
        #expect(!page.contains("<tr data-key"))
        #expect(page.contains("<span id=\"count\">0 jobs</span>"))
        let confirmation = try await dashboard.page("/confirm?action=cancel&\(query)")
        #expect(confirmation.contains("There is nothing to change."))
        let until = "\(dashboard.jobs.store.now.microseconds)"
        let value = query == "payload=hunter" ? "hunter" : "\"password\":\"h"
        _ = try await dashboard.change(["action": "cancel", "payload": value, "until": until])
      }
      expect(try await scene.state(first), is: .waiting)
      let until = "\(dashboard.jobs.store.now.microseconds)"
      let result = try await dashboard.change(["action": "cancel", "payload": "\"customer\":17", "until": until])
      #expect(result.contains("Cancelled: 1 job."))
      expect(try await scene.state(first), is: .cancelled)
    }
  }

  @Test("J360: selected jobs that were not counted are not described as jobs in other states")
  func uncountedSelection() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      var query = "selected=1&payload=customer"
      for _ in 0..<120 { query += "&job=\(try await scene.enqueue("mail", #"{"customer":7}"#))" }
      let page = try await dashboard.page("/confirm?action=cancel&\(query)")
      #expect(page.contains("<h1>Cancel 100+ jobs?</h1>") && !page.contains("other states"))
    }
  }

  @Test("J361: a search shows neither that many jobs have a hidden value nor where these jobs are")
  func commonSecret() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      for number in 0..<210 {
        try await scene.enqueue("mail", #"{"customer":\#(number % 70),"apiKey":"hunter2"}"#)
      }
      for query in ["payload=hunter2", "payload=hunter3", "payload=hunter2&state=waiting"] {
        let page = try await dashboard.page("/jobs?\(query)")
        #expect(page.contains("There are no such jobs.") && page.contains("<span id=\"count\">0 jobs</span>"))
        #expect(!page.contains("Continue the search") && !page.contains("rel=\"next\""))
        let confirmation = try await dashboard.page("/confirm?action=cancel&\(query)")
        #expect(confirmation.contains("There is nothing to change."))
        expect(try await dashboard.get("/jobs.json?\(query)").text, is: "[\n]\n")
      }
      // Shown values still have pages, which contain each job once.
      var (ids, address) = ([Substring](), String?.some("/jobs?payload=customer"))
      while let next = address {
        let page = try await dashboard.page(next)
        ids += page.matches(of: /<tr data-key="(\d+)">/).map(\.1)
        address = page.firstMatch(of: /<a href="\.([^"]+)" rel="next">/).map {
          String($0.1).replacing("&amp;", with: "&")
        }
      }
      #expect(ids.count == 210 && Set(ids).count == 210)
      let few = try await dashboard.page("/jobs?payload=%22customer%22%3A7%2C")
      #expect(few.contains("<span id=\"count\">3 jobs</span>") && !few.contains("rel=\"next\""))
    }
  }

  @Test("J361: jobs are found by the times when they were stored and when they ended")
  func times() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      let id = try await scene.fail()
      let waiting = try await scene.enqueue()
      let row = { (id: JobID) in "<tr data-key=\"\(id)\">" }
      let all = try await dashboard.page("/jobs?enqueued-from=2020-01-01T00:00&enqueued-to=2200-01-01T00:00:00Z")
      #expect(all.contains(row(id)) && all.contains(row(waiting)))
      let ended = try await dashboard.page("/jobs?ended-from=2020-01-01T00:00")
      #expect(ended.contains(row(id)) && !ended.contains(row(waiting)))
      #expect(ended.contains("href=\"./jobs?ended-from=2020-01-01T00%3A00%3A00Z\">Link to this list</a>"))
      expect(try await dashboard.page("/jobs?ended-to=2020-01-01T00:00").contains(row(id)), is: false)
      expect(try await dashboard.get("/jobs?ended-to=2026-02-30T00:00").status, is: .badRequest)
    }
  }

  @Test("J361: the filter suggests kinds and queues, and the address of a list contains only its conditions")
  func addresses() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      try await scene.enqueue(options: [.queue("bulk & more")])
      let page = try await dashboard.page("/jobs?state=&kind=&queue=&tag=a+b&label=&age=1h")
      #expect(page.contains("<datalist id=\"kinds\"><option value=\"mail\"><option value=\"resize\"></datalist>"))
      #expect(page.contains("<option value=\"bulk &amp; more\">"))
      #expect(page.contains("href=\"./jobs?tag=a%20b&amp;age=1h\">Link to this list</a>"))
      #expect(page.contains("href=\"./jobs.csv?tag=a%20b&amp;age=1h\" download>CSV</a>"))
    }
  }

  @Test("J362: a list is exported as JSON and as CSV, with all pages and without hidden values")
  func export() async throws {
    try await RunningDashboard.with { dashboard in
      let scene = try await Scene(dashboard.jobs)
      let failed = try await scene.fail("mail", error: "line 1\nline \"2\"", type: "E")
      let first = try await scene.enqueue(
        "mail", #"{"number": 1.50, "Password": {"a": [1]}, "text": "a,\"b\"\n"}"#,
        options: [.label("=1+1"), .tags(["x", "y"])])
      for _ in 0..<250 { try await scene.enqueue("resize") }
      let json = try await dashboard.get("/jobs.json")
      expect(json.headers.first(name: "Content-Type"), is: "application/json")
      #expect(!json.text.contains("hunter") && !json.text.contains("[1]"))
      #expect(json.text.contains(#""payload":{"number":1.50,"Password":"•••","text":"a,\"b\"\n"}"#))
      let jobs = try #require(try JSONSerialization.jsonObject(with: Data(json.text.utf8)) as? [[String: Any]])
      #expect(jobs.count == 252)
      #expect((jobs.last?["id"] as? NSNumber)?.int64Value == failed.rawValue)
      #expect(jobs.last?["error"] as? String == "line 1\nline \"2\"")
      #expect(jobs.dropLast().last?["tags"] as? [String] == ["x", "y"])
      let csv = try await dashboard.get("/jobs.csv?kind=mail")
      expect(csv.headers.first(name: "Content-Disposition"), is: "attachment; filename=\"jobs.csv\"")
      #expect(csv.text.hasPrefix("id,state,kind,queue,label,tags,"))
      #expect(csv.text.contains("\r\n\(failed),failed,mail,default,,,"))
      #expect(csv.text.contains("\"line 1\nline \"\"2\"\"\""))
      // A spreadsheet does not compute the label.
      #expect(csv.text.contains("\r\n\(first),waiting,mail,default,'=1+1,x y,"))
      #expect(!csv.text.contains("resize"))
      let empty = try await dashboard.get("/jobs.json?kind=nothing")
      #expect(empty.text == "[\n]\n")
      expect(try await dashboard.get("/jobs.csv?state=broken").status, is: .badRequest)
    }
  }

  @Test(
    "J362: a spreadsheet computes no text of a job",
    arguments: ["=1", "+1", "-1", "@A1", "\t=1", "\r=1", "\n=1", "＝1", "＋1", "－1", "＠A1"])
  func formula(label: String) async throws {
    let jobs = Jobs(MemoryJobStore())
    try await Scene(jobs).enqueue(options: [.label(label)])
    let job = try #require(try await jobs.jobs(limit: 1).first)
    #expect(ExportedJob(job, hiding: []).csv.contains("'\(label)"))
  }

  @Test("J362: hidden values become strings, and other payloads remain as they are")
  func withoutSecrets() {
    func text(_ payload: String) -> String {
      String(decoding: JSONText.withoutSecrets(Array(payload.utf8), hiding: ["token"]), as: UTF8.self)
    }
    #expect(text(#"{ "token" : [1, {"a": "}"}], "b": 1.0 }"#) == #"{"token":"•••","b":1.0}"#)
    #expect(text("no JSON, token") == "no JSON, token")
  }
}
#endif
