#if Drawing
import CPangoCairo

extension DrawingContext {
  /// Draws text from its top left corner.
  ///
  /// - Parameters:
  ///   - text: The text to draw.
  ///   - origin: The top left corner of the first line.
  ///   - width: The maximum width of lines, in points. Longer lines are broken between words. Nil for no limit.
  public func draw(_ text: Text, at origin: Point, width: Double? = nil) {
    let numbers = origin.x + origin.y + text.font.size + text.lineSpacing + (width ?? 0)
    let isFinite = numbers.isFinite && text.color.isDrawable
    perform(ifFinite: isFinite, "draw(text)") { cairo in
      withLayout(of: text, width: width, cairo) { layout in
        cairo_set_source_rgba(cairo, text.color.red, text.color.green, text.color.blue, text.color.opacity)
        cairo_move_to(cairo, origin.x, origin.y)
        pango_cairo_show_layout(cairo, layout)
        cairo_new_path(cairo)
      }
    }
  }

  /// Draws text in a rectangle, starting at its top and wrapped at its width; text that does not fit is clipped.
  ///
  /// - Parameters:
  ///   - text: The text to draw.
  ///   - rectangle: The rectangle that contains the text.
  public func draw(_ text: Text, in rectangle: Rectangle) {
    withSavedState {
      clip(to: Path(rectangle))
      draw(text, at: rectangle.origin, width: rectangle.size.width)
    }
  }

  /// Measures text.
  ///
  /// - Parameters:
  ///   - text: The text to measure.
  ///   - width: The maximum width of lines, in points; nil for no limit.
  /// - Returns: The size, in points. The size is measured even after a cancellation, because code might loop until a
  ///   size fits.
  public func measure(_ text: Text, width: Double? = nil) -> Size {
    var size = Size.zero
    query { cairo in
      withLayout(of: text, width: width, cairo) { layout in
        var (horizontal, vertical) = (Int32(0), Int32(0))
        pango_layout_get_size(layout, &horizontal, &vertical)
        size = Size(Double(horizontal) / Double(PANGO_SCALE), Double(vertical) / Double(PANGO_SCALE))
      }
    }
    return size
  }

  private func withLayout(
    of text: Text, width: Double?, _ cairo: OpaquePointer, _ body: (OpaquePointer) -> Void
  ) {
    // Beyond this size, FreeType and Pango fail, and the font is unusable in this process from then on.
    guard scaledSize(of: text.font, cairo) <= largestFontSize else {
      return fail(.invalidGeometry, "text of \(text.font.size) points is too large at this scale")
    }
    guard let context = textLayouts(cairo), let layout = pango_layout_new(context) else {
      return fail(.outOfMemory, "text")
    }
    defer { g_object_unref(UnsafeMutableRawPointer(layout)) }
    pango_layout_set_auto_dir(layout, text.direction == .natural ? 1 : 0)
    switch text.direction {
    case .natural: pango_context_set_base_dir(context, PANGO_DIRECTION_WEAK_LTR)
    case .leftToRight: pango_context_set_base_dir(context, PANGO_DIRECTION_LTR)
    case .rightToLeft: pango_context_set_base_dir(context, PANGO_DIRECTION_RTL)
    }
    pango_layout_context_changed(layout)
    let font = text.font.makeDescription()
    pango_layout_set_font_description(layout, font)
    pango_font_description_free(font)
    // Pango ends text at the first null character.
    var string =
      text.string.utf8.contains(0) ? String(text.string.map { $0 == "\0" ? "\u{FFFD}" : $0 }) : text.string
    string.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { characters in
        pango_layout_set_text(layout, characters.baseAddress, Int32(clamping: characters.count))
      }
    }
    // Even without a width, lines are aligned relative to the widest line.
    pango_layout_set_alignment(layout, text.pangoAlignment)
    pango_layout_set_spacing(layout, pangoUnits(text.lineSpacing))
    if let width {
      pango_layout_set_width(layout, max(0, pangoUnits(width)))
      pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR)
    }
    if let count = text.maxLineCount {
      // Pango reads a negative height as the number of lines per paragraph.
      pango_layout_set_height(layout, -Int32(clamping: max(1, count)))
      pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END)
    }
    body(layout)
  }
}

/// The largest font size in pixels: FreeType has 16 bits for it, and Pango multiplies by the scale twice.
private let largestFontSize = 60_000.0

/// Returns the size of a font under the current transformation, for comparison with ``largestFontSize``.
private func scaledSize(of font: Font, _ cairo: OpaquePointer) -> Double {
  var matrix = cairo_matrix_t()
  cairo_get_matrix(cairo, &matrix)
  let scale = max(
    (matrix.xx * matrix.xx + matrix.yx * matrix.yx).squareRoot(),
    (matrix.xy * matrix.xy + matrix.yy * matrix.yy).squareRoot())
  return max(0, font.size) * scale * max(1, scale)
}

/// Converts points to Pango units.
private func pangoUnits(_ points: Double) -> Int32 {
  guard !points.isNaN else { return 0 }
  // Pango multiplies and adds such values; this limit prevents overflow.
  let largest = Double(Int32.max / 4)
  return Int32(max(-largest, min(largest, (points * Double(PANGO_SCALE)).rounded())))
}

extension Font {
  fileprivate func makeDescription() -> OpaquePointer? {
    let description = pango_font_description_new()
    pango_font_description_set_family(description, family)
    pango_font_description_set_absolute_size(description, max(0, Double(pangoUnits(size))))
    pango_font_description_set_weight(description, PangoWeight(UInt32(max(100, min(1000, weight.value)))))
    pango_font_description_set_style(description, isItalic ? PANGO_STYLE_ITALIC : PANGO_STYLE_NORMAL)
    return description
  }
}

extension Text {
  /// The alignment for Pango: if Pango determines the direction, its “left” is the side where reading begins;
  /// otherwise, it is the left.
  fileprivate var pangoAlignment: PangoAlignment {
    switch alignment {
    case .center: PANGO_ALIGN_CENTER
    case .leading: direction == .rightToLeft ? PANGO_ALIGN_RIGHT : PANGO_ALIGN_LEFT
    case .trailing: direction == .rightToLeft ? PANGO_ALIGN_LEFT : PANGO_ALIGN_RIGHT
    }
  }
}
#endif
