#if Drawing
extension ImageFileError {
  /// The kinds of failure.
  ///
  /// Later versions may add more, so include a default case when you compare.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    private enum Kind: Hashable {
      case fileNotFound, notRegularFile, permissionDenied, inputOutputError
      case unknownFormat, unsupported, truncated, corrupt, tooLarge, outOfMemory
      case cannotWrite, cannotEncode
    }

    private let kind: Kind

    /// The file does not exist.
    public static let fileNotFound = Code(kind: .fileNotFound)
    /// The path is a folder, a pipe, or a device.
    public static let notRegularFile = Code(kind: .notRegularFile)
    /// The process is not allowed to read the file.
    public static let permissionDenied = Code(kind: .permissionDenied)
    /// The system could not open or read the file for another reason.
    public static let inputOutputError = Code(kind: .inputOutputError)
    /// The file is neither JPEG nor PNG.
    public static let unknownFormat = Code(kind: .unknownFormat)
    /// The file uses an unsupported variant of its format, such as JPEG with 12 bits.
    public static let unsupported = Code(kind: .unsupported)
    /// The file is incomplete.
    public static let truncated = Code(kind: .truncated)
    /// The file is invalid in its format.
    public static let corrupt = Code(kind: .corrupt)
    /// The image has more pixels, or decoding it would take more memory, than the limits allow.
    public static let tooLarge = Code(kind: .tooLarge)
    /// There is not enough memory for the image.
    public static let outOfMemory = Code(kind: .outOfMemory)
    /// The file can't be written.
    public static let cannotWrite = Code(kind: .cannotWrite)
    /// The format can't represent this image, such as a JPEG of more than 65,500 pixels in one direction.
    public static let cannotEncode = Code(kind: .cannotEncode)

    /// A description of the kind of failure.
    public var description: String {
      switch kind {
      case .fileNotFound: "There is no such file"
      case .notRegularFile: "This is not a regular file"
      case .permissionDenied: "The file may not be read"
      case .inputOutputError: "The file can't be read"
      case .unknownFormat: "The file is neither JPEG nor PNG"
      case .unsupported: "The file uses a variant of its format that can't be read"
      case .truncated: "The file ends too early"
      case .corrupt: "The file is damaged"
      case .tooLarge: "The image is too large"
      case .outOfMemory: "There is not enough memory for the image"
      case .cannotWrite: "The file can't be written"
      case .cannotEncode: "The image does not fit the format"
      }
    }
  }
}
#endif
