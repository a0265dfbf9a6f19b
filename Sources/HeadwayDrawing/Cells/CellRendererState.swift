#if Drawing
/// Determines which drawings are needed: the state machine of a ``CellImageRenderer``, without operations and threads.
///
/// A *request* is the content that was last requested for a key, until the content is delivered. Requests of visible
/// keys for the same content share a *work*, which is drawn once. Each change returns actions, which the caller must
/// perform in order.
struct CellRendererState<Key: Hashable, Content: Hashable, Value> {
  /// An action that the caller must perform.
  enum Action {
    /// Draw the content, and report the end of the drawing with ``ended(_:value:cost:)``.
    case start(Content, number: Int)
    /// Cancel a drawing that is running or waiting.
    case cancel(number: Int)
    /// Deliver the content, if ``takeRequest(of:for:)`` still returns true at that time.
    case deliver(Key, Content)
  }

  private struct Request {
    let content: Content
    /// The position of the request in the order of all requests.
    let number: Int
  }

  private struct Work {
    let number: Int
    /// The visible keys that request the content; never empty.
    var keys: Set<Key>
  }

  private(set) var visible: Set<Key> = []
  private var requests: [Key: Request] = [:]
  /// Keys that have requests but are not visible.
  ///
  /// When the visible keys change, a request of such a key is either drawn or discarded.
  private var early: Set<Key> = []
  /// The drawings that are running or waiting and are needed.
  private var works: [Content: Work] = [:]
  /// The content of each drawing that has not ended, including cancelled ones.
  private var contents: [Int: Content] = [:]
  private var cache: RecentValues<Content, Value>
  private var lastNumber = 0

  init(costLimit: Int) { cache = RecentValues(costLimit: costLimit) }

  // MARK: Queries

  var cachedCost: Int { cache.cost }

  var cachedCount: Int { cache.count }

  /// The number of drawings that are needed and have not ended.
  var workCount: Int { works.count }

  /// The number of requests that have not been fulfilled.
  var requestCount: Int { requests.count }

  /// Returns whether a drawing is still needed.
  func needs(_ number: Int) -> Bool { contents[number].flatMap { works[$0]?.number } == number }

  mutating func cachedValue(for content: Content) -> Value? { cache.value(for: content) }

  mutating func removeCachedValues() { cache.removeAll() }

  // MARK: Changes

  /// Requests a content for a key.
  ///
  /// - Returns: The value if it is cached (no request is kept then), and the actions to perform.
  mutating func request(_ content: Content, for key: Key) -> (value: Value?, actions: [Action]) {
    if requests[key]?.content == content { return (nil, []) }
    var actions: [Action] = []
    dropRequest(of: key, &actions)
    if let value = cache.value(for: content) { return (value, actions) }
    requests[key] = Request(content: content, number: nextNumber())
    if visible.contains(key) { join(key, content, &actions) } else { early.insert(key) }
    return (nil, actions)
  }

  /// Replaces the visible keys.
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

  /// Records that a drawing has ended, for any reason.
  ///
  /// - Parameters:
  ///   - number: The number of the drawing.
  ///   - value: The result of the drawing; nil if it failed or was cancelled.
  ///   - cost: The cost of caching the value.
  /// - Returns: The content, and the deliveries to perform; nil if the drawing is unknown.
  mutating func ended(_ number: Int, value: Value?, cost: Int) -> (content: Content, deliveries: [Action])? {
    guard let content = contents.removeValue(forKey: number) else { return nil }
    // Also cache a value that is no longer needed but was finished before it could be cancelled.
    if let value { cache.insert(value, for: content, cost: cost) }
    guard let work = works[content], work.number == number else { return (content, []) }
    works[content] = nil
    let keys = work.keys.sorted { (requests[$0]?.number ?? 0) < (requests[$1]?.number ?? 0) }
    return (content, keys.map { .deliver($0, content) })
  }

  /// Removes the request of a key and returns true, if the request is still for that content and the key is visible.
  mutating func takeRequest(of key: Key, for content: Content) -> Bool {
    // If the key has since joined another drawing of the same content, that drawing delivers it.
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

  /// Makes a visible key wait for its content.
  private mutating func join(_ key: Key, _ content: Content, _ actions: inout [Action]) {
    if works[content] != nil {
      works[content]?.keys.insert(key)
    } else if cache.value(for: content) != nil {
      // The content was drawn for another key after this key had requested it.
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
