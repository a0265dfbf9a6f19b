/// Writes rows of fields or values as CSV: into a file, to a descriptor, or into memory.
///
/// ```swift
/// let writer = try CSVWriter(path: "stations.csv", columns: ["id", "name"])
/// try writer.write(["1", "Zoo, Berlin"])
/// try writer.write(fields: 2, "Alex")
/// try writer.finish()
/// ```
///
/// What it writes, ``CSVReader`` reads as the same fields, given the same dialect. Quotes are around a field only where
/// a reader needs them. The names of columns are the exception: a reader leaves out blanks around them.
///
/// **Files.** A file is written beside its name, and gets that when ``finish()`` returns: others see what was there
/// before, or all rows. Without `finish`, and after an error, nothing remains. What is no regular file, such as a pipe
/// or a device, is written in place.
///
/// **Threads.** Everything runs on the calling thread, which waits while a buffer of 64 KB is written. Use a writer on
/// one thread or task at a time.
///
/// **Errors** are of type ``CSVWriterError``.
public final class CSVWriter {
  /// What errors call the file.
  public let path: String

  /// How it is written.
  public let options: Options

  /// The names of the columns; nil while they are not known.
  public private(set) var columns: [String]?

  /// How many rows have been written, the header not included.
  public private(set) var rowCount = 0

  private let format: FieldFormat
  /// Nil for memory.
  private let output: OutputFile?
  private var buffer: [UInt8] = []
  /// How many fields a row has; nil while that is not known.
  private var width: Int?
  private var hasRecords = false
  private var failure: CSVWriterError?
  private var isFinished = false

  private static let bufferSize = 64 << 10

  private init(_ output: OutputFile?, path: String, columns: [String]?, options: Options) {
    precondition(
      options.dialect.isUsable, "A dialect's delimiter, quote and escape must differ and be neither CR nor LF")
    (self.output, self.path, self.options) = (output, path, options)
    format = FieldFormat(options.dialect, options.lineEnd)
    if output != nil { buffer.reserveCapacity(Self.bufferSize + Self.bufferSize / 8) }
    if let columns { begin(columns) }
  }

  /// Creates a file beside a path, which gets that name when the writer is finished.
  ///
  /// - Parameters:
  ///   - path: The name of the file; `-` is standard output.
  ///   - columns: The names of the columns. When nil, they are those of the first value that is encoded, and there are
  ///     none if fields are written.
  ///   - options: How the file is written.
  /// - Throws: ``CSVWriterError`` with the code `folderNotFound`, `isDirectory`, `permissionDenied`, `diskFull` or
  ///   `cannotWrite`.
  public convenience init(
    path: String, columns: [String]? = nil, options: Options = Options()
  ) throws(CSVWriterError) {
    let output = path == "-" ? OutputFile(descriptor: 1, path: path) : try OutputFile(path: path)
    self.init(output, path: path, columns: columns, options: options)
  }

  /// Writes to a descriptor, from the place where that is.
  ///
  /// - Parameters:
  ///   - fileDescriptor: The descriptor, open for writing. It is not closed, and must stay open until the writer is
  ///     finished.
  ///   - columns: The names of the columns. When nil, they are those of the first value that is encoded, and there are
  ///     none if fields are written.
  ///   - options: How the file is written.
  public convenience init(fileDescriptor: Int32, columns: [String]? = nil, options: Options = Options()) {
    let path = "/dev/fd/\(fileDescriptor)"
    self.init(
      OutputFile(descriptor: fileDescriptor, path: path), path: path, columns: columns, options: options)
  }

  /// Writes into memory: see ``bytes`` and ``text``.
  ///
  /// - Parameters:
  ///   - columns: The names of the columns. When nil, they are those of the first value that is encoded, and there are
  ///     none if fields are written.
  ///   - options: How the bytes are written.
  public convenience init(columns: [String]? = nil, options: Options = Options()) {
    self.init(nil, path: "memory", columns: columns, options: options)
  }

  /// What has been written into memory; of a file, what is not yet written to it.
  public var bytes: [UInt8] { buffer }

  /// What has been written into memory, as text.
  ///
  /// - Complexity: O(*n*) in the number of bytes.
  public var text: String { String(decoding: buffer, as: UTF8.self) }

  /// Writes what is left, and gives the file its name.
  ///
  /// Once more it does nothing.
  ///
  /// - Throws: ``CSVWriterError`` with the code `diskFull` or another about the file; then there is none, or the one
  ///   that was there before.
  public func finish() throws(CSVWriterError) {
    guard !isFinished else { return }
    isFinished = true
    guard let output else { return }
    do throws(CSVWriterError) {
      try flush()
      try output.finish()
    } catch {
      output.discard()
      throw error
    }
  }

  // MARK: Rows

  /// Takes the names of the columns, before the first row.
  func begin(_ columns: [String]) {
    (self.columns, width) = (columns, columns.count)
    guard options.writesHeader, !columns.isEmpty else { return }
    let start = buffer.count
    for (position, name) in columns.enumerated() { append(name, at: position) }
    endRow(from: start)
  }

  /// Writes a row whose fields are appended by a closure.
  package func writeRow(
    count: Int, _ appendFields: () throws(CSVWriterError) -> Void
  ) throws(CSVWriterError) {
    precondition(!isFinished, "CSVWriter for \(path): a row is written after finish(). Finish behind the last row.")
    if let failure { throw failure }
    if let width, width != count, options.raggedRows == .report {
      throw CSVWriterError(raggedRow: count, columns: width, path: path, rowNumber: rowCount + 1)
    }
    width = width ?? count
    let start = buffer.count
    do { try appendFields() } catch {
      buffer.removeSubrange(start...)
      throw error
    }
    endRow(from: start)
    rowCount += 1
    if output != nil, buffer.count >= Self.bufferSize { try flush() }
  }

  /// Appends a field of the row that is being written.
  package func append(_ field: String, at position: Int) {
    var field = field
    field.withUTF8 { append(UnsafeRawBufferPointer($0), at: position) }
  }

  /// Appends a field of the row that is being written.
  package func append(_ field: UnsafeRawBufferPointer, at position: Int) {
    format.append(field, at: position, isFirstRow: !hasRecords, to: &buffer)
  }

  private func endRow(from start: Int) {
    format.endRow(from: start, in: &buffer)
    hasRecords = true
  }

  private func flush() throws(CSVWriterError) {
    if let failure { throw failure }
    guard let output else { return }
    do throws(CSVWriterError) {
      // The buffer is not written to meanwhile.
      let bytes = buffer.span.bytes
      try bytes.withUnsafeBytes { (bytes) throws(CSVWriterError) in try output.write(bytes) }
    } catch {
      failure = error
      output.discard()
      throw error
    }
    buffer.removeAll(keepingCapacity: true)
  }
}

extension CSVWriterError {
  init(raggedRow count: Int, columns: Int, path: String, rowNumber: Int) {
    self.init(.raggedRow, path: path, rowNumber: rowNumber, message: RaggedRow.message(fields: count, columns: columns))
  }
}
