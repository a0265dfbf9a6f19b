#if Drawing
public import Headway

/// Draws the images of a list's cells off the main thread, while the user scrolls.
///
/// A *key* identifies a cell or a row. A *content* describes what an image shows, including its size. Set the visible
/// keys, and request their contents:
///
/// ```swift
/// import HeadwayDrawing
///
/// @MainActor func showPhotos() -> CellImageRenderer<Int, String> {
///   let cells = CellImageRenderer<Int, String>(costLimit: 32_000_000) { path in
///     DrawingOperation(width: 80, height: 80, scale: 2) { context in
///       let photo = try Image(thumbnailOf: path, fitting: 160) { context.isCancelled }
///       context.draw(photo, in: context.bounds.fitting(photo.size))
///     }
///   } onImage: { row, result in
///     print("row", row, "shows", result)
///   }
///   cells.visibleKeys = [0, 1, 2]
///   for row in cells.visibleKeys { cells.image(for: row, content: "photo\(row).jpg") }
///   return cells
/// }
/// ```
///
/// - The newest request for a key wins: an image of an older request is never delivered after it.
/// - When keys are hidden, drawings that wait for them leave the queue, and running drawings end after the current
///   command. Equal contents are drawn once, for all keys that request them.
/// - Finished images are cached up to a memory limit. The least recently used ones are removed first.
///
/// This class is isolated to the main actor, like the user interface that it draws for. Therefore it needs no lock, and
/// your types can implement `==` themselves. When it is released, its unfinished drawings are cancelled.
@MainActor public final class CellImageRenderer<Key: Hashable, Content: Hashable> {
  private let queue: OperationQueue
  private let makeDrawing: (Content) -> DrawingOperation
  private let onImage: (Key, Result<Image, any Error>) -> Void
  private var state: CellRendererState<Key, Content, Image>
  private let running = RunningDrawings()
  private let ended: EndedDrawings

  /// Creates an object that draws images for cells.
  ///
  /// - Parameters:
  ///   - queue: The queue that runs the drawings; nil for a separate queue.
  ///   - costLimit: The maximum number of bytes that the pixels of cached images take. An image that exceeds the limit
  ///     on its own is delivered, but not cached.
  ///   - makeDrawing: Creates the operation that draws a content, a new object for each call. Headway adds its own
  ///     completion block to the operation's block.
  ///   - onImage: Receives the image for a visible key, or the error if it could not be drawn. The image belongs to the
  ///     newest request for that key. A failure is not cached: the next request tries again.
  public init(
    queue: OperationQueue? = nil, costLimit: Int = 64 << 20,
    makeDrawing: @escaping (Content) -> DrawingOperation,
    onImage: @escaping (Key, Result<Image, any Error>) -> Void
  ) {
    self.queue = queue ?? OperationQueue(name: "cell drawing", qualityOfService: .userInitiated)
    self.makeDrawing = makeDrawing
    self.onImage = onImage
    state = CellRendererState(costLimit: max(0, costLimit))
    let receiver = Receiver()
    ended = EndedDrawings { receiver.receive?() }
    receiver.receive = { [weak self] in self?.receiveEnds() }
  }

  /// The function that ``EndedDrawings`` calls, which is created before `self` can be referred to.
  @MainActor private final class Receiver {
    var receive: (() -> Void)?
  }

  // MARK: Visible keys

  /// The keys that the user sees.
  ///
  /// Update this property as the user scrolls. Requests for keys that are no longer visible are discarded. Request
  /// their contents again when the keys become visible.
  ///
  /// - Complexity: O(*n*) in the number of keys in the old and the new value.
  public var visibleKeys: Set<Key> {
    get { state.visible }
    set { carryOut(state.setVisible(newValue)) }
  }

  /// Returns the image for a key if it is cached, and requests it otherwise.
  ///
  /// The request replaces an earlier one for the key. A request for a key that is not visible is kept until
  /// ``visibleKeys`` is set the next time. It is then either drawn or discarded.
  ///
  /// - Parameters:
  ///   - key: The cell or row that shows the content.
  ///   - content: The content to draw.
  /// - Returns: The image, if it is cached; `onImage` is not called in this case. Otherwise nil.
  @discardableResult public func image(for key: Key, content: Content) -> Image? {
    let (image, actions) = state.request(content, for: key)
    carryOut(actions)
    return image
  }

  // MARK: Cached images

  /// The number of bytes that the pixels of cached images take.
  public var cachedCost: Int { state.cachedCost }

  /// Returns a finished image, if it is cached.
  ///
  /// - Parameter content: The content of the image.
  /// - Returns: The image; nil if it is not cached.
  public func cachedImage(of content: Content) -> Image? { state.cachedValue(for: content) }

  /// Removes all cached images, for example when memory is scarce.
  public func removeCachedImages() { state.removeCachedValues() }

  /// The number of drawings for visible keys that are running or waiting.
  public var drawingCount: Int { state.workCount }

  // MARK: Drawing

  /// Carries out actions.
  ///
  /// Each action can call user code, which might change the state.
  private func carryOut(_ actions: [CellRendererState<Key, Content, Image>.Action]) {
    for action in actions {
      switch action {
      case .start(let content, let number): start(content, number)
      case .cancel(let number): running.operations.removeValue(forKey: number)?.cancel()
      case .deliver(let key, let content):
        guard let image = state.cachedValue(for: content) else { continue }
        deliver(.success(image), of: content, to: key)
      }
    }
  }

  private func start(_ content: Content, _ number: Int) {
    guard state.needs(number) else { return endUnstarted(number) }
    let operation = makeDrawing(content)
    guard state.needs(number) else { return endUnstarted(number) }
    let completionBlock = operation.completionBlock
    // The block retains the operation until it has run and is released then.
    operation.completionBlock = { [ended] in
      ended.add(EndedDrawings.End(number: number, result: operation.result))
      completionBlock?()
    }
    running.operations[number] = operation
    queue.addOperation(operation)
  }

  /// Ends a drawing that user code made unnecessary before its operation was added to the queue.
  private func endUnstarted(_ number: Int) { _ = state.ended(number, value: nil, cost: 0) }

  private func receiveEnds() {
    for end in ended.take() {
      running.operations[end.number] = nil
      let image = try? end.result.get()
      guard let (content, deliveries) = state.ended(end.number, value: image, cost: image?.byteCount ?? 0) else {
        continue
      }
      for case .deliver(let key, _) in deliveries { deliver(end.result, of: content, to: key) }
    }
  }

  private func deliver(_ result: Result<Image, any Error>, of content: Content, to key: Key) {
    if state.takeRequest(of: key, for: content) { onImage(key, result) }
  }
}

/// The operations of drawings that have neither ended nor been cancelled.
///
/// Cancels them when it is released.
private final class RunningDrawings {
  var operations: [Int: DrawingOperation] = [:]

  deinit {
    Operation.cancel(together: Array(operations.values))
  }
}

extension DrawingOperation {
  /// The image, or the operation's error.
  fileprivate var result: Result<Image, any Error> {
    if let image { return .success(image) }
    if case .failure(let error)? = outcome { return .failure(error) }
    return .failure(CancellationError())
  }
}
#endif
