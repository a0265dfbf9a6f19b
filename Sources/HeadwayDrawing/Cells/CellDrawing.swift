#if Drawing
public import Headway

/// Draws what the cells of a list show, off the main thread, while the user scrolls.
///
/// A *key* is a cell, or a row; a *content* says what an image shows, its size included. Say which keys are visible,
/// and ask for what they show:
///
/// ```swift
/// import HeadwayDrawing
///
/// @MainActor func showPhotos() -> CellDrawing<Int, String> {
///   let cells = CellDrawing<Int, String>(costLimit: 32_000_000) { path in
///     DrawingOperation(width: 80, height: 80, scale: 2) { context in
///       let photo = try Image(thumbnailOf: path, fitting: 160) { context.isCancelled }
///       context.draw(photo, in: context.bounds.fitting(photo.size))
///     }
///   } onImage: { row, result in
///     print("row", row, "shows", result)
///   }
///   cells.visible = [0, 1, 2]
///   for row in cells.visible { cells.request("photo\(row).jpg", for: row) }
///   return cells
/// }
/// ```
///
/// - The newest request for a key wins: an image of an older one is never handed over after it.
/// - What waits for keys that are hidden leaves the queue; what is being drawn for them ends after the command that
///   is being carried out. Equal contents are drawn once, for as many keys as ask.
/// - Finished images are kept, the last used first, up to a limit of memory.
///
/// It lives on the main thread, like what it draws for: so there is no lock, and your types may have their own `==`.
/// When it is released, what it still draws is cancelled.
@MainActor public final class CellDrawing<Key: Hashable, Content: Hashable> {
  private let queue: OperationQueue
  private let makeDrawing: (Content) -> DrawingOperation
  private let onImage: (Key, Result<Image, any Error>) -> Void
  private var state: CellDrawingState<Key, Content, Image>
  private let running = RunningDrawings()
  private let ended: EndedDrawings

  /// Creates an object that draws for cells.
  ///
  /// - Parameters:
  ///   - queue: Where drawings run; nil for a queue of its own.
  ///   - costLimit: How many bytes the pixels of finished images may take that are kept for later. An image that
  ///     takes more by itself is handed over and not kept.
  ///   - makeDrawing: Makes the operation that draws a content, each time a new one. It is given a completion block
  ///     in addition to the one that it has.
  ///   - onImage: Takes what was drawn for a key that is visible, and whose newest request it is; or why it could not
  ///     be drawn. A failure is not kept: the next request tries again.
  public init(
    queue: OperationQueue? = nil, costLimit: Int = 64 << 20,
    makeDrawing: @escaping (Content) -> DrawingOperation,
    onImage: @escaping (Key, Result<Image, any Error>) -> Void
  ) {
    self.queue = queue ?? OperationQueue(name: "cell drawing", qualityOfService: .userInitiated)
    self.makeDrawing = makeDrawing
    self.onImage = onImage
    state = CellDrawingState(costLimit: max(0, costLimit))
    let receiver = Receiver()
    ended = EndedDrawings { receiver.receive?() }
    receiver.receive = { [weak self] in self?.receiveEnds() }
  }

  /// What the inbox calls, which is made before `self` can be referred to.
  @MainActor private final class Receiver {
    var receive: (() -> Void)?
  }

  // MARK: What is shown

  /// The keys that the user sees.
  ///
  /// Change it as the user scrolls. Requests of keys that are not in it any more are forgotten: ask again when they
  /// come back.
  ///
  /// - Complexity: O(*n*) in the number of keys in the old and the new value.
  public var visible: Set<Key> {
    get { state.visible }
    set { carryOut(state.setVisible(newValue)) }
  }

  /// Asks for what a key shows, in place of what it was asked for before.
  ///
  /// Of a key that is not visible the request is kept until ``visible`` is set the next time: then it is drawn, or
  /// forgotten.
  ///
  /// - Parameters:
  ///   - content: What it shows.
  ///   - key: The key.
  /// - Returns: The image, if it is there; `onImage` is not called then. Else nil.
  @discardableResult public func request(_ content: Content, for key: Key) -> Image? {
    let (image, actions) = state.request(content, for: key)
    carryOut(actions)
    return image
  }

  // MARK: What is kept

  /// How many bytes the pixels of kept images take.
  public var cachedCost: Int { state.cachedCost }

  /// A finished image, if it is kept.
  ///
  /// - Parameter content: What it shows.
  /// - Returns: The image.
  public func cachedImage(of content: Content) -> Image? { state.cachedValue(for: content) }

  /// Keeps no image any more, for instance since memory is scarce.
  public func removeCachedImages() { state.removeCachedValues() }

  /// How many drawings are being made, or wait for that, for keys that are visible.
  public var drawingCount: Int { state.workCount }

  // MARK: Drawing

  /// Carries out actions.
  ///
  /// Each may call code of the user's, which may change the state.
  private func carryOut(_ actions: [CellDrawingState<Key, Content, Image>.Action]) {
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
    // It holds the operation until it has run, and is released then.
    operation.completionBlock = { [ended] in
      ended.add(EndedDrawings.End(number: number, result: operation.result))
      completionBlock?()
    }
    running.operations[number] = operation
    queue.addOperation(operation)
  }

  /// It was cancelled by code of the user's before there was an operation.
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

/// The operations of drawings that have neither ended nor been cancelled; cancels them when nobody needs them any
/// more.
private final class RunningDrawings {
  var operations: [Int: DrawingOperation] = [:]

  deinit {
    for operation in operations.values { operation.cancel() }
  }
}

extension DrawingOperation {
  /// How it ended.
  fileprivate var result: Result<Image, any Error> {
    if let image { return .success(image) }
    if case .failure(let error)? = outcome { return .failure(error) }
    return .failure(CancellationError())
  }
}
#endif
