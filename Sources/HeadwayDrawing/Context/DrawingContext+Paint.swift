#if Drawing
import CPangoCairo

extension DrawingContext {
  /// Calls a closure while a paint is cairo's source.
  func withSource(_ paint: Paint, _ cairo: OpaquePointer, _ body: () -> Void) {
    switch paint.kind {
    case .color(let color):
      cairo_set_source_rgba(cairo, color.red, color.green, color.blue, color.opacity)
      body()
    case .linear(let gradient, let start, let end):
      with(cairo_pattern_create_linear(start.x, start.y, end.x, end.y), gradient, cairo, body)
    case .radial(let gradient, let center, let startRadius, let endRadius):
      let pattern = cairo_pattern_create_radial(
        center.x, center.y, max(0, startRadius), center.x, center.y, max(0, endRadius))
      with(pattern, gradient, cairo, body)
    case .image(let image, let origin):
      withSource(image, cairo) { pattern in
        var matrix = cairo_matrix_t(
          xx: image.scale, yx: 0, xy: 0, yy: image.scale, x0: -origin.x * image.scale, y0: -origin.y * image.scale)
        cairo_pattern_set_matrix(pattern, &matrix)
        cairo_pattern_set_extend(pattern, CAIRO_EXTEND_REPEAT)
        body()
      }
    }
  }

  /// Calls a closure while an image is cairo's source, with one pattern unit per pixel.
  func withSource(_ image: Image, _ cairo: OpaquePointer, _ body: (OpaquePointer?) -> Void) {
    withExtendedLifetime(image.storage) {
      let surface = image.storage.makeSurface()
      cairo_set_source_surface(cairo, surface, 0, 0)
      body(cairo_get_source(cairo))
      // Reset the source, because cairo keeps it and the pixels might be freed in the meantime.
      cairo_set_source_rgba(cairo, 0, 0, 0, 1)
      cairo_surface_finish(surface)
      cairo_surface_destroy(surface)
    }
  }

  private func with(
    _ pattern: OpaquePointer?, _ gradient: Gradient, _ cairo: OpaquePointer, _ body: () -> Void
  ) {
    for stop in gradient.stops {
      let color = stop.color
      cairo_pattern_add_color_stop_rgba(
        pattern, stop.location, color.red, color.green, color.blue, color.opacity)
    }
    cairo_set_source(cairo, pattern)
    cairo_pattern_destroy(pattern)
    body()
  }
}
#endif
