#if Drawing
extension ImageFileError {
  /// The kinds of failure.
  ///
  /// Later versions might add more, so include a default case when you compare.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private let phrase: String
    /// A sentence without its period.
    let sentence: String

    private init(_ phrase: String, _ sentence: String) { (self.phrase, self.sentence) = (phrase, sentence) }

    /// The file does not exist.
    public static let fileNotFound = Code("missing file", "There is no such file")
    /// The path is a folder, a pipe, or a device.
    public static let notRegularFile = Code("file that is not regular", "This is not a regular file")
    /// The process is not allowed to read the file.
    public static let permissionDenied = Code("file without permission", "The file may not be read")
    /// The system could not open or read the file for another reason.
    public static let inputOutputError = Code("input or output error", "The file can't be read")
    /// The file is neither JPEG nor PNG.
    public static let unknownFormat = Code("unknown format", "The file is neither JPEG nor PNG")
    /// The file uses an unsupported variant of its format, such as JPEG with 12 bits.
    public static let unsupported = Code(
      "unsupported variant of a format", "The file uses a variant of its format that can't be read")
    /// The file is incomplete.
    public static let truncated = Code("incomplete file", "The file ends too early")
    /// The file is invalid in its format.
    public static let corrupt = Code("damaged file", "The file is damaged")
    /// The image has more pixels, or decoding it would take more memory, than the limits allow.
    public static let tooLarge = Code("image over the limits", "The image is too large")
    /// There is not enough memory for the image.
    public static let outOfMemory = Code("lack of memory", "There is not enough memory for the image")
    /// The file can't be written.
    public static let cannotWrite = Code("file that can't be written", "The file can't be written")
    /// The format can't represent this image, such as a JPEG of more than 65,500 pixels in one direction.
    public static let cannotEncode = Code("image that does not fit its format", "The image does not fit the format")

    /// The kind, as a noun phrase.
    public var description: String { phrase }
  }
}
#endif
