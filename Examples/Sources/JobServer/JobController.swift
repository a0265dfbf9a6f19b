import Headway
import Hummingbird
import NIOCore

import class Foundation.JSONEncoder

/// The error of an attempt that fails on request.
struct TemporaryFailure: Error {}

/// Accepts jobs and shows the queue that runs them.
struct JobController: Sendable {
  let queue: OperationQueue
  let ledger: Ledger
  /// The maximum number of jobs in the queue.
  let maxJobCount: Int

  func addRoutes(to router: Router<BasicRequestContext>) {
    router.post("jobs", use: accept)
    router.get("queues") { _, _ in Self.page(Self.html) }
    router.get("queues.json") { _, _ in
      let snapshot = OperationQueue.snapshotAll(maxOperationCount: 50)
      return Response(
        status: .ok, headers: [.contentType: "application/json", .cacheControl: "no-store"],
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: try JSONEncoder().encode(snapshot))))
    }
  }

  /// Adds a job: `POST /jobs?customer=7&milliseconds=20&failures=1`.
  ///
  /// The response is 202 with the number of the job, or 503 if the queue is full or the server is shutting down.
  @Sendable private func accept(_ request: Request, context: BasicRequestContext) async throws -> Response {
    let parameters = request.uri.queryParameters
    let customer = String(parameters["customer"] ?? "anonymous")
    let milliseconds = parameters["milliseconds"].flatMap { Int($0) } ?? 5
    let failureCount = parameters["failures"].flatMap { Int($0) } ?? 0
    guard (0...60_000).contains(milliseconds), customer.utf8.count <= 40 else { throw HTTPError(.badRequest) }
    guard !queue.isClosed, queue.operationCount < maxJobCount else { return Self.refusal }

    let number = ledger.makeNumber()
    // The customers take turns.
    let job = TaskOperation(
      .name("job \(number)"), .key(customer), .timeout(.seconds(90)),
      .retry(.constant(maxAttemptCount: 3, delay: .milliseconds(5)))
    ) { [ledger] attempt in
      try await Task.sleep(for: .milliseconds(milliseconds))
      if attempt <= failureCount { throw TemporaryFailure() }
      ledger.end(number, .success)
    }
    job.completionBlock = { [ledger, unowned job] in ledger.end(number, job.outcome) }
    queue.addOperation(job)
    // The queue might have been closed in the meantime. If so, it has rejected the job.
    if job.error is QueueClosedError { return Self.refusal }
    return Response(
      status: .accepted, headers: [.contentType: "application/json"],
      body: ResponseBody(byteBuffer: ByteBuffer(string: "{\"job\":\(number)}\n")))
  }

  private static var refusal: Response { Response(status: .serviceUnavailable, headers: [.retryAfter: "1"]) }

  private static func page(_ html: String) -> Response {
    Response(
      status: .ok, headers: [.contentType: "text/html; charset=utf-8"],
      body: ResponseBody(byteBuffer: ByteBuffer(string: html)))
  }

  /// A page that reads the snapshot once a second.
  ///
  /// Names are inserted as text, so they cannot add elements.
  private static let html = """
    <!doctype html>
    <html lang="en">
    <meta charset="utf-8"><title>Queues</title>
    <style>body { font: 15px/1.4 system-ui; margin: 2em } td, th { padding: 0 1em 0 0; text-align: left }</style>
    <h1>Queues</h1>
    <p id="threads">Loading…</p>
    <div id="queues"></div>
    <script>
    const element = (name, text) => Object.assign(document.createElement(name), { textContent: text })
    async function update() {
      try {
        const snapshot = await (await fetch("queues.json")).json()
        const blocked = snapshot.threads.filter(thread => thread.state == "blocked").length
        threads.textContent = `${snapshot.threads.length} threads, ${blocked} of them blocked`
        queues.replaceChildren(...snapshot.queues.flatMap(queue => {
          const table = document.createElement("table")
          for (const operation of queue.operations) {
            const row = table.insertRow()
            for (const text of [operation.name ?? operation.type, operation.state, operation.diagnosis])
              row.append(element("td", text))
          }
          const state = queue.isClosed ? ", closed" : queue.isSuspended ? ", suspended" : ""
          return [element("h2", `${queue.name ?? "unnamed"}: ${queue.operationCount} operations${state}`), table]
        }))
      } catch { threads.textContent = "The server does not answer." }
    }
    update()
    setInterval(update, 1000)
    </script>
    """
}
