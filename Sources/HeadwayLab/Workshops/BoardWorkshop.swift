#if Lab
import Headway
import Hummingbird
import NIOCore
import Synchronization

/// Boxes that the user connects.
///
/// Each is an operation, with the dependencies that were drawn.
final class BoardWorkshop: Sendable {
  private struct Event: Encodable {
    struct Box: Encodable {
      let number: Int
      let name: String
      var state = "waiting"
      var steps = 0
    }

    let type = "board"
    var boxes: [Box]
    /// Pairs of numbers: the second waits for the first.
    var edges: [[Int]] = []
    var phase = "editing"
    /// The result of the last change, as a sentence.
    var message = ""
    /// If a change was rejected because of a cycle, the boxes that would wait for each other, with the first again at
    /// the end.
    var cycle: [Int] = []
  }

  private struct EdgeRequest: Decodable {
    var from: Int
    var to: Int
  }

  private struct State {
    var event: Event
    var operations: [BoxOperation] = []
    /// The number of the current run.
    ///
    /// Events of earlier runs are ignored.
    var run = 0
    var left = 0
    var isClosed = false
    var tokens: [KeyValueObservation] = []
  }

  private static let names = ["Fetch", "Unpack", "Parse", "Resize", "Draw", "Save", "Index", "Notify"]
  /// The number of steps in an operation.
  private static let stepCount = 8

  private let journal: Journal
  private let work: @Sendable () -> Void
  private let queue = Headway.OperationQueue(name: "board")
  // Protected by its lock. The operations and the journal are changed under it, and do not call back.
  private let state: Mutex<State>

  init(_ journal: Journal, work: @escaping @Sendable () -> Void) {
    (self.journal, self.work) = (journal, work)
    let boxes = Self.names.prefix(6).enumerated().map { Event.Box(number: $0 + 1, name: $1) }
    state = Mutex(State(event: Event(boxes: boxes)))
    state.withLock { state in
      renew(&state)
      journal.append(state.event, key: "board")
    }
  }

  func addRoutes(to router: Router<BasicRequestContext>) {
    func change(_ path: RouterPath, _ body: @escaping @Sendable (inout State, EdgeRequest) -> Bool) {
      router.post(path) { [self] request, context in
        let edge = try await request.decode(as: EdgeRequest.self, context: context)
        return self.change { body(&$0, edge) } ? HTTPResponse.Status.accepted : .conflict
      }
    }
    change("api/board/connect") { [self] in connect(&$0, from: $1.from, to: $1.to) }
    change("api/board/disconnect") { [self] in disconnect(&$0, from: $1.from, to: $1.to) }
    router.post("api/board/add") { [self] _, _ in
      self.change { add(&$0) } ? HTTPResponse.Status.accepted : .conflict
    }
    router.post("api/board/clear") { [self] _, _ in
      self.change { clear(&$0) } ? HTTPResponse.Status.accepted : .conflict
    }
    router.post("api/board/run") { [self] _, _ in run() ? HTTPResponse.Status.accepted : .conflict }
    router.post("api/board/cancel") { [self] _, _ in
      queue.cancelAllOperations()
      return HTTPResponse.Status.accepted
    }
    router.get("api/board/diagnosis/:box") { [self] _, context in
      let operations = state.withLock { $0.operations }
      guard let box = context.parameters.get("box", as: Int.self), operations.indices.contains(box - 1) else {
        throw HTTPError(.notFound)
      }
      return Response(
        status: .ok, headers: [.contentType: "text/plain; charset=utf-8"],
        body: ResponseBody(byteBuffer: ByteBuffer(string: operations[box - 1].diagnosis)))
    }
  }

  var isRunning: Bool { state.withLock { $0.left > 0 } }

  // MARK: Drawing

  /// Makes a change, unless the server is closing, and shows the result.
  private func change(_ body: (inout State) -> Bool) -> Bool {
    state.withLock { state in
      guard !state.isClosed else { return false }
      if state.event.phase == "finished" || state.event.phase == "cancelled" { renew(&state) }
      (state.event.message, state.event.cycle) = ("", [])
      let isDone = body(&state)
      journal.append(state.event, key: "board")
      return isDone
    }
  }

  /// Creates operations that have not run, with the drawn dependencies.
  private func renew(_ state: inout State) {
    state.run += 1
    let run = state.run
    state.operations = state.event.boxes.map { box in
      BoxOperation(name: box.name, stepCount: Self.stepCount, work: work) { [weak self] steps in
        self?.note(box.number, run) { $0.steps = steps }
      }
    }
    for edge in state.event.edges { state.operations[edge[1] - 1].addDependency(state.operations[edge[0] - 1]) }
    state.event.boxes = state.event.boxes.map { Event.Box(number: $0.number, name: $0.name) }
    state.event.phase = "editing"
  }

  private func connect(_ state: inout State, from: Int, to: Int) -> Bool {
    guard state.operations.indices.contains(from - 1), state.operations.indices.contains(to - 1) else { return false }
    let (first, second) = (state.event.boxes[from - 1], state.event.boxes[to - 1])
    guard from != to else {
      return refuse(&state, "\(first.name) can't wait for itself.", cycle: [from, from])
    }
    guard !state.event.edges.contains([from, to]) else {
      return refuse(&state, "\(second.name) waits for \(first.name) already.")
    }
    let operation = state.operations[to - 1]
    guard !operation.isExecuting, !operation.isFinished, !operation.isCancelled else {
      return refuse(&state, "\(second.name) has started, and waits for nothing anymore.")
    }
    operation.addDependency(state.operations[from - 1])
    if let cycle = operation.firstDependencyCycle() {
      operation.removeDependency(state.operations[from - 1])
      let numbers = cycle.compactMap { member in state.operations.firstIndex { $0 === member }.map { $0 + 1 } }
      // In the order of waiting, starting with the box that was meant to wait.
      let start = numbers.firstIndex(of: to) ?? 0
      let ordered = Array(numbers[start...] + numbers[..<start]) + [to]
      let names = ordered.map { state.event.boxes[$0 - 1].name }
      return refuse(
        &state, "Refused, because it is a cycle: \(names.joined(separator: " waits for ")).", cycle: ordered)
    }
    state.event.edges.append([from, to])
    state.event.message = "\(second.name) waits for \(first.name)."
    return true
  }

  private func refuse(_ state: inout State, _ message: String, cycle: [Int] = []) -> Bool {
    (state.event.message, state.event.cycle) = (message, cycle)
    return false
  }

  private func disconnect(_ state: inout State, from: Int, to: Int) -> Bool {
    guard let index = state.event.edges.firstIndex(of: [from, to]) else { return false }
    state.event.edges.remove(at: index)
    state.operations[to - 1].removeDependency(state.operations[from - 1])
    let boxes = state.event.boxes
    state.event.message = "\(boxes[to - 1].name) no longer waits for \(boxes[from - 1].name)."
    return true
  }

  private func add(_ state: inout State) -> Bool {
    let count = state.event.boxes.count
    guard state.left == 0, count < Self.names.count else { return false }
    state.event.boxes.append(Event.Box(number: count + 1, name: Self.names[count]))
    state.event.message = "\(Self.names[count]) is new."
    renew(&state)
    return true
  }

  private func clear(_ state: inout State) -> Bool {
    guard state.left == 0 else { return false }
    state.event.edges = []
    state.event.message = "Nothing waits for anything."
    renew(&state)
    return true
  }

  // MARK: Running

  private func run() -> Bool {
    let operations: [BoxOperation]? = state.withLock { state in
      guard state.left == 0, !state.isClosed else { return nil }
      renew(&state)
      let run = state.run
      state.left = state.operations.count
      (state.event.phase, state.event.message, state.event.cycle) = ("running", "", [])
      state.tokens = state.operations.enumerated().flatMap { index, operation in
        [
          operation.observe(\.isExecuting) { [weak self] operation, _ in
            if operation.isExecuting { self?.note(index + 1, run) { $0.state = "executing" } }
          },
          operation.observe(\.isFinished) { [weak self] operation, _ in
            if operation.isFinished { self?.noteEnd(index + 1, run, isCancelled: operation.isCancelled) }
          },
        ]
      }
      journal.append(state.event, key: "board")
      return state.operations
    }
    guard let operations else { return false }
    queue.addOperations(operations, waitUntilFinished: false)
    if state.withLock({ $0.isClosed }) { queue.cancelAllOperations() }
    return true
  }

  private func note(_ box: Int, _ run: Int, _ change: (inout Event.Box) -> Void) {
    state.withLock { state in
      guard state.run == run, !["finished", "cancelled"].contains(state.event.boxes[box - 1].state) else { return }
      change(&state.event.boxes[box - 1])
      journal.append(state.event, key: "board")
    }
  }

  private func noteEnd(_ box: Int, _ run: Int, isCancelled: Bool) {
    note(box, run) { $0.state = isCancelled ? "cancelled" : "finished" }
    state.withLock { state in
      guard state.run == run, state.left > 0 else { return }
      state.left -= 1
      guard state.left == 0 else { return }
      let isWhole = state.event.boxes.allSatisfy { $0.state == "finished" }
      state.event.phase = isWhole ? "finished" : "cancelled"
      state.event.message = isWhole ? "All have finished, each after the boxes that it waited for." : "Cancelled."
      journal.append(state.event, key: "board")
    }
  }

  /// Cancels everything and prevents new runs.
  func close() {
    state.withLock { $0.isClosed = true }
    queue.cancelAllOperations()
  }
}

/// Works in steps.
///
/// Between them, the operation can be cancelled.
private final class BoxOperation: Headway.Operation, @unchecked Sendable {
  private let stepCount: Int
  private let work: @Sendable () -> Void
  private let report: @Sendable (Int) -> Void

  init(
    name: String, stepCount: Int, work: @escaping @Sendable () -> Void, report: @escaping @Sendable (Int) -> Void
  ) {
    (self.stepCount, self.work, self.report) = (stepCount, work, report)
    super.init()
    self.name = name
  }

  override func main() {
    for step in 1...stepCount where !isCancelled {
      work()
      report(step)
    }
  }
}
#endif
