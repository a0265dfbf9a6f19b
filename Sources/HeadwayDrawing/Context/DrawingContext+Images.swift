#if Drawing
import CPangoCairo

extension DrawingContext {
  /// Draws an image, scaled to a rectangle.
  ///
  /// Where it becomes smaller, each pixel is a mean of those that it stands for.
  ///
  /// - Parameters:
  ///   - image: The image.
  ///   - rectangle: Where to.
  ///   - opacity: How opaque it is, from 0 to 1.
  ///   - isSmooth: Whether pixels go over into each other where they become larger; else they are squares.
  public func draw(_ image: Image, in rectangle: Rectangle, opacity: Double = 1, isSmooth: Bool = true) {
    let (origin, size) = (rectangle.origin, rectangle.size)
    let isFinite = (origin.x + origin.y + size.width + size.height + opacity).isFinite
    guard size.width != 0, size.height != 0 else { return perform(ifFinite: isFinite, "draw") { _ in } }
    perform(ifFinite: isFinite, "draw") { cairo in
      cairo_save(cairo)
      cairo_translate(cairo, origin.x, origin.y)
      cairo_scale(cairo, size.width / Double(image.pixelWidth), size.height / Double(image.pixelHeight))
      cairo_new_path(cairo)
      cairo_rectangle(cairo, 0, 0, Double(image.pixelWidth), Double(image.pixelHeight))
      withSource(image, cairo) { pattern in
        cairo_pattern_set_filter(pattern, isSmooth ? CAIRO_FILTER_GOOD : CAIRO_FILTER_NEAREST)
        // Else pixels at the edge would be mixed with the transparent ones around the image.
        cairo_pattern_set_extend(pattern, CAIRO_EXTEND_PAD)
        if opacity < 1 {
          cairo_clip(cairo)
          cairo_paint_with_alpha(cairo, max(0, opacity))
        } else {
          cairo_fill(cairo)
        }
      }
      cairo_restore(cairo)
    }
  }

  /// Draws an image in its size in points.
  ///
  /// - Parameters:
  ///   - image: The image.
  ///   - origin: Where its top left corner is.
  ///   - opacity: How opaque it is, from 0 to 1.
  public func draw(_ image: Image, at origin: Point, opacity: Double = 1) {
    draw(image, in: Rectangle(origin: origin, size: image.size), opacity: opacity)
  }
}
#endif
