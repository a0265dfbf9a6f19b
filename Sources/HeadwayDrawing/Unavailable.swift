#if !Drawing
// The main types, so that the compiler names the trait Drawing where a program uses them without it. They have the
// initializers of the types themselves. Otherwise, the compiler would report the missing initializer instead.

/// An operation that draws an image; enable the trait `Drawing` to use it.
@available(*, unavailable, message: "Enable the trait Drawing: .package(url: …, from: …, traits: [\"Drawing\"])")
public struct DrawingOperation {
  /// Unavailable.
  public init(
    width: Double, height: Double, scale: Double = 1, draw: @escaping @Sendable (DrawingContext) throws -> Void
  ) {}
}

/// The receiver of drawing commands; enable the trait `Drawing` to use it.
@available(*, unavailable, message: "Enable the trait Drawing: .package(url: …, from: …, traits: [\"Drawing\"])")
public struct DrawingContext {}

/// An image; enable the trait `Drawing` to use it.
@available(*, unavailable, message: "Enable the trait Drawing: .package(url: …, from: …, traits: [\"Drawing\"])")
public struct Image {
  /// Unavailable.
  public init(width: Double, height: Double, scale: Double = 1, draw: (DrawingContext) throws -> Void) throws {}
  /// Unavailable.
  public init(contentsOf path: String) throws {}
  /// Unavailable.
  public init(thumbnailOf path: String, fitting side: Int) throws {}
}

/// The images of the cells of a list; enable the trait `Drawing` to use it.
@available(*, unavailable, message: "Enable the trait Drawing: .package(url: …, from: …, traits: [\"Drawing\"])")
public struct CellImageRenderer<Key: Hashable, Content: Hashable> {
  /// Unavailable.
  public init(
    costLimit: Int = 64 << 20, makeDrawing: @escaping (Content) -> DrawingOperation,
    onImage: @escaping (Key, Result<Image, any Error>) -> Void
  ) {}
}

/// An operation that creates a thumbnail; enable the trait `Drawing` to use it.
@available(*, unavailable, message: "Enable the trait Drawing: .package(url: …, from: …, traits: [\"Drawing\"])")
public struct ThumbnailOperation {
  /// Unavailable.
  public init(of path: String, fitting side: Int, into outputPath: String? = nil, quality: Int = 85) {}
}
#endif
