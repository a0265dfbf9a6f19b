#if !Drawing
public import Headway

// The main types, so that the compiler names the trait Drawing where a program uses them without it. They have the
// initializers of the types themselves. Otherwise, the compiler would report the missing initializer instead.

/// An operation that draws an image; enable the trait `Drawing` to use it.
@available(*, unavailable, message: "Enable the trait Drawing: .package(url: …, from: …, traits: [\"Drawing\"])")
public final class DrawingOperation: Headway.Operation, ValueOperation, @unchecked Sendable {
  /// Unavailable.
  public init(
    width: Double, height: Double, scale: Double = 1, draw: @escaping @Sendable (DrawingContext) throws -> Void
  ) {}

  /// Unavailable.
  public var image: Image? { nil }
  /// Unavailable.
  public var value: Image {
    get async throws { throw CancellationError() }
  }

  /// Unavailable.
  public func onImage(_ handler: @escaping @MainActor @Sendable (Image) -> Void) {}
}

/// The receiver of drawing commands; enable the trait `Drawing` to use it.
@available(*, unavailable, message: "Enable the trait Drawing: .package(url: …, from: …, traits: [\"Drawing\"])")
public struct DrawingContext {
  /// Unavailable.
  public let size: Size
  /// Unavailable.
  public let scale: Double
  /// Unavailable.
  public let bounds: Rectangle
  /// Unavailable.
  public let isCancelled: Bool

  /// Unavailable.
  public func checkCancellation() throws {}
  /// Unavailable.
  public func withSavedState<Result>(_ body: () throws -> Result) rethrows -> Result { try body() }
  /// Unavailable.
  public func withLayer<Result>(opacity: Double = 1, _ body: () throws -> Result) rethrows -> Result { try body() }
  /// Unavailable.
  public func translate(x: Double, y: Double) {}
  /// Unavailable.
  public func scale(x: Double, y: Double) {}
  /// Unavailable.
  public func rotate(byRadians radians: Double) {}
  /// Unavailable.
  public func fill(_ path: Path, with paint: Paint) {}
  /// Unavailable.
  public func fill(_ rectangle: Rectangle, with paint: Paint) {}
  /// Unavailable.
  public func stroke(_ path: Path, with paint: Paint, style: StrokeStyle = StrokeStyle()) {}
  /// Unavailable.
  public func stroke(_ path: Path, with paint: Paint, width: Double) {}
  /// Unavailable.
  public func clear(_ rectangle: Rectangle) {}
  /// Unavailable.
  public func clip(to path: Path) {}
  /// Unavailable.
  public func draw(_ text: Text, at origin: Point, width: Double? = nil) {}
  /// Unavailable.
  public func draw(_ text: Text, in rectangle: Rectangle) {}
  /// Unavailable.
  public func measure(_ text: Text, width: Double? = nil) -> Size { .zero }
  /// Unavailable.
  public func draw(_ image: Image, in rectangle: Rectangle, opacity: Double = 1, isSmooth: Bool = true) {}
  /// Unavailable.
  public func draw(_ image: Image, at origin: Point, opacity: Double = 1) {}
}

/// An image; enable the trait `Drawing` to use it.
@available(*, unavailable, message: "Enable the trait Drawing: .package(url: …, from: …, traits: [\"Drawing\"])")
public struct Image: Sendable {
  /// Unavailable.
  public init(width: Double, height: Double, scale: Double = 1, draw: (DrawingContext) throws -> Void) throws {}
  /// Unavailable.
  public init(contentsOf path: String) throws {}
  /// Unavailable.
  public init(thumbnailOf path: String, fitting side: Int) throws {}
}

/// Renders images for the cells of a list; enable the trait `Drawing` to use it.
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
public final class ThumbnailOperation: Headway.Operation, ValueOperation, @unchecked Sendable {
  /// Unavailable.
  public init(of path: String, fitting side: Int, into outputPath: String? = nil, quality: Int = 85) {}

  /// Unavailable.
  public var image: Image? { nil }
  /// Unavailable.
  public var value: Image {
    get async throws { throw CancellationError() }
  }
}

/// A point; enable the trait `Drawing` to use it.
@available(*, unavailable, message: "Enable the trait Drawing: .package(url: …, from: …, traits: [\"Drawing\"])")
public struct Point: Sendable {
  /// Unavailable.
  public static let zero = Point(0, 0)
  /// Unavailable.
  public init(_ x: Double, _ y: Double) {}
}

/// A size; enable the trait `Drawing` to use it.
@available(*, unavailable, message: "Enable the trait Drawing: .package(url: …, from: …, traits: [\"Drawing\"])")
public struct Size: Sendable {
  /// Unavailable.
  public static let zero = Size(0, 0)
  /// Unavailable.
  public init(_ width: Double, _ height: Double) {}
}

/// A rectangle; enable the trait `Drawing` to use it.
@available(*, unavailable, message: "Enable the trait Drawing: .package(url: …, from: …, traits: [\"Drawing\"])")
public struct Rectangle: Sendable {
  /// Unavailable.
  public init(_ x: Double, _ y: Double, _ width: Double, _ height: Double) {}
  /// Unavailable.
  public init(origin: Point = .zero, size: Size) {}
  /// Unavailable.
  public func inset(by distance: Double) -> Rectangle { self }
}

/// A path; enable the trait `Drawing` to use it.
@available(*, unavailable, message: "Enable the trait Drawing: .package(url: …, from: …, traits: [\"Drawing\"])")
public struct Path: Sendable {
  /// Unavailable.
  public init() {}
  /// Unavailable.
  public init(_ rectangle: Rectangle) {}
  /// Unavailable.
  public init(_ rectangle: Rectangle, cornerRadius: Double) {}
  /// Unavailable.
  public init(ellipseIn rectangle: Rectangle) {}
  /// Unavailable.
  public init(lineFrom start: Point, to end: Point) {}
  /// Unavailable.
  public init(_ build: (inout Path) -> Void) {}
  /// Unavailable.
  public mutating func move(to point: Point) {}
  /// Unavailable.
  public mutating func addLine(to point: Point) {}
  /// Unavailable.
  public mutating func addLines(_ points: [Point]) {}
  /// Unavailable.
  public mutating func closeSubpath() {}
}

/// A color; enable the trait `Drawing` to use it.
@available(*, unavailable, message: "Enable the trait Drawing: .package(url: …, from: …, traits: [\"Drawing\"])")
public struct Color: Sendable {
  /// Unavailable.
  public static let black = Color(white: 0)
  /// Unavailable.
  public static let white = Color(white: 1)
  /// Unavailable.
  public static let gray = Color(white: 0)
  /// Unavailable.
  public static let red = Color(white: 0)
  /// Unavailable.
  public static let green = Color(white: 0)
  /// Unavailable.
  public static let blue = Color(white: 0)
  /// Unavailable.
  public static let clear = Color(white: 0)
  /// Unavailable.
  public init(red: Double, green: Double, blue: Double, opacity: Double = 1) {}
  /// Unavailable.
  public init(white: Double, opacity: Double = 1) {}
  /// Unavailable.
  public init(rgb: UInt32, opacity: Double = 1) {}
  /// Unavailable.
  public func opacity(_ opacity: Double) -> Color { self }
}

/// A gradient; enable the trait `Drawing` to use it.
@available(*, unavailable, message: "Enable the trait Drawing: .package(url: …, from: …, traits: [\"Drawing\"])")
public struct Gradient: Sendable {
  /// Unavailable.
  public init(_ colors: [Color]) {}
}

/// The color, gradient, or image that fills a path; enable the trait `Drawing` to use it.
@available(*, unavailable, message: "Enable the trait Drawing: .package(url: …, from: …, traits: [\"Drawing\"])")
public struct Paint: Sendable {
  /// Unavailable.
  public static func color(_ color: Color) -> Paint { Paint() }
  /// Unavailable.
  public static func linearGradient(_ gradient: Gradient, from start: Point, to end: Point) -> Paint { Paint() }
  /// Unavailable.
  public static func radialGradient(
    _ gradient: Gradient, center: Point, startRadius: Double = 0, endRadius: Double
  ) -> Paint { Paint() }
}

/// The style of a stroke; enable the trait `Drawing` to use it.
@available(*, unavailable, message: "Enable the trait Drawing: .package(url: …, from: …, traits: [\"Drawing\"])")
public struct StrokeStyle: Sendable {
  /// Unavailable.
  public init(width: Double = 1, dashes: [Double] = [], dashPhase: Double = 0) {}
}

/// A font; enable the trait `Drawing` to use it.
@available(*, unavailable, message: "Enable the trait Drawing: .package(url: …, from: …, traits: [\"Drawing\"])")
public struct Font: Sendable {
  /// Unavailable.
  public init(_ family: String = "Sans", size: Double, isItalic: Bool = false) {}
}

/// A text to draw; enable the trait `Drawing` to use it.
@available(*, unavailable, message: "Enable the trait Drawing: .package(url: …, from: …, traits: [\"Drawing\"])")
public struct Text: Sendable {
  /// Unavailable.
  public init(_ string: String, font: Font, color: Color = .black, maxLineCount: Int? = nil, lineSpacing: Double = 0) {}
}

/// Limits for reading images; enable the trait `Drawing` to use it.
@available(*, unavailable, message: "Enable the trait Drawing: .package(url: …, from: …, traits: [\"Drawing\"])")
public struct ImageLimits: Sendable {
  /// Unavailable.
  public static let `default` = ImageLimits()
  /// Unavailable.
  public init(maxPixelCount: Int = 0, maxDecodingMemory: Int = 0, maxScanCount: Int = 0) {}
}

/// The error of an image file; enable the trait `Drawing` to use it.
@available(*, unavailable, message: "Enable the trait Drawing: .package(url: …, from: …, traits: [\"Drawing\"])")
public struct ImageFileError: Error, Sendable {}

/// The error of a drawing; enable the trait `Drawing` to use it.
@available(*, unavailable, message: "Enable the trait Drawing: .package(url: …, from: …, traits: [\"Drawing\"])")
public struct DrawingError: Error, Sendable {}
#endif
