#if Drawing
import CPangoCairo

extension DrawingContext {
  /// Draws an image, scaled to a rectangle.
  ///
  /// If the image is scaled down, each pixel is the average of the pixels that it replaces.
  ///
  /// - Parameters:
  ///   - image: The image to draw, which is scaled to the rectangle.
  ///   - rectangle: The rectangle that the image fills.
  ///   - opacity: The opacity, from 0 to 1.
  ///   - isSmooth: Whether pixels are blended when the image is scaled up. If false, they are drawn as squares.
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
        // Otherwise, pixels at the edge would be blended with the transparent area around the image.
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

  /// Draws an image at its size in points.
  ///
  /// - Parameters:
  ///   - image: The image to draw, at its natural size.
  ///   - origin: The top left corner of the image.
  ///   - opacity: The opacity, from 0 to 1.
  public func draw(_ image: Image, at origin: Point, opacity: Double = 1) {
    draw(image, in: Rectangle(origin: origin, size: image.size), opacity: opacity)
  }
}
#endif
