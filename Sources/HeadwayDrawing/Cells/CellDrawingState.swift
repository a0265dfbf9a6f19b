#if Drawing
/// Which drawings are needed: the state machine of a ``CellDrawing``, without operations and threads.
///
/// A *request* is what a key shows, as it was asked for last, until that is delivered. Requests of visible keys for
/// the same content share a *work*, which is drawn once. What a change leads to is returned as actions, for the
/// caller to carry out in their order.
struct CellDrawingState<Key: Hashable, Content: Hashable, Value> {
  /// What the caller has to do.
  enum Action {
    /// Draw; the end is to be reported with ``ended(_:value:cost:)``.
    case start(Content, number: Int)
    /// Cancel what is drawn, or waits to be.
    case cancel(number: Int)
    /// Hand over, if ``takeRequest(of:for:)`` says so by then.
    case deliver(Key, Content)
  }

  private struct Request {
    let content: Content
    /// In which order requests came.
    let number: Int
  }

  private struct Work {
    let number: Int
    /// Visible keys whose request is for its content; never empty.
    var keys: Set<Key>
  }

  private(set) var visible: Set<Key> = []
  private var requests: [Key: Request] = [:]
  /// Keys with requests that are not visible: they may be in the next set of visible keys, or are forgotten then.
  private var early: Set<Key> = []
  /// What is being drawn, or waits to be.
  private var works: [Content: Work] = [:]
  /// The content of each drawing that has not ended, cancelled ones too.
  private var contents: [Int: Content] = [:]
  private var cache: RecentValues<Content, Value>
  private var lastNumber = 0

  init(costLimit: Int) { cache = RecentValues(costLimit: costLimit) }

  // MARK: Questions

  var cachedCost: Int { cache.cost }

  var cachedCount: Int { cache.count }

  /// How many drawings are needed and have not ended.
  var workCount: Int { works.count }

  /// How many requests were not fulfilled.
  var requestCount: Int { requests.count }

  /// Whether a drawing is still needed.
  func needs(_ number: Int) -> Bool { contents[number].flatMap { works[$0]?.number } == number }

  mutating func cachedValue(for content: Content) -> Value? { cache.value(for: content) }

  mutating func removeCachedValues() { cache.removeAll() }

  // MARK: Changes

  /// A key shows a content from now on.
  ///
  /// - Returns: The value, if it is cached; there is no request then.
  mutating func request(_ content: Content, for key: Key) -> (value: Value?, actions: [Action]) {
    if requests[key]?.content == content { return (nil, []) }
    var actions: [Action] = []
    dropRequest(of: key, &actions)
    if let value = cache.value(for: content) { return (value, actions) }
    requests[key] = Request(content: content, number: nextNumber())
    if visible.contains(key) { join(key, content, &actions) } else { early.insert(key) }
    return (nil, actions)
  }

  /// Other keys are visible from now on.
  mutating func setVisible(_ keys: Set<Key>) -> [Action] {
    var actions: [Action] = []
    for key in visible where !keys.contains(key) { dropRequest(of: key, &actions) }
    visible = keys
    var appeared: [(key: Key, request: Request)] = []
    for key in early {
      guard let request = requests[key] else { continue }
      if keys.contains(key) { appeared.append((key, request)) } else { requests[key] = nil }
    }
    early = []
    for (key, request) in appeared.sorted(by: { $0.request.number < $1.request.number }) {
      join(key, request.content, &actions)
    }
    return actions
  }

  /// A drawing has ended, for whatever reason.
  ///
  /// - Parameters:
  ///   - number: Its number.
  ///   - value: What was drawn; nil if it failed or was cancelled.
  ///   - cost: What keeping the value costs.
  /// - Returns: The content, and for whom it is.
  mutating func ended(_ number: Int, value: Value?, cost: Int) -> (content: Content, deliveries: [Action])? {
    guard let content = contents.removeValue(forKey: number) else { return nil }
    // Also what nobody needs any more, but was finished before it could be cancelled.
    if let value { cache.insert(value, for: content, cost: cost) }
    guard let work = works[content], work.number == number else { return (content, []) }
    works[content] = nil
    let keys = work.keys.sorted { (requests[$0]?.number ?? 0) < (requests[$1]?.number ?? 0) }
    return (content, keys.map { .deliver($0, content) })
  }

  /// Takes the request of a key, if it still is for that content, and the key is visible.
  mutating func takeRequest(of key: Key, for content: Content) -> Bool {
    // One that has joined another drawing of the same content meanwhile is left to that.
    guard requests[key]?.content == content, visible.contains(key), works[content]?.keys.contains(key) != true
    else { return false }
    requests[key] = nil
    return true
  }

  // MARK: Parts

  private mutating func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  /// Has a visible key wait for its content.
  private mutating func join(_ key: Key, _ content: Content, _ actions: inout [Action]) {
    if works[content] != nil {
      works[content]?.keys.insert(key)
    } else if cache.value(for: content) != nil {
      // It was drawn for another key after this one had asked.
      actions.append(.deliver(key, content))
    } else {
      let number = nextNumber()
      works[content] = Work(number: number, keys: [key])
      contents[number] = content
      actions.append(.start(content, number: number))
    }
  }

  private mutating func dropRequest(of key: Key, _ actions: inout [Action]) {
    guard let content = requests.removeValue(forKey: key)?.content else { return }
    early.remove(key)
    guard works[content]?.keys.remove(key) != nil, let work = works[content], work.keys.isEmpty else { return }
    works[content] = nil
    actions.append(.cancel(number: work.number))
  }
}
#endif
