import Headway

/// Writes rows, given as fields or values, as CSV to a file, to a descriptor, or to memory.
///
/// ```swift
/// let writer = try CSVWriter(path: "stations.csv", columns: ["id", "name"])
/// try writer.write(["1", "Zoo, Berlin"])
/// try writer.write(fields: 2, "Alex")
/// try writer.finish()
/// ```
///
/// A ``CSVReader`` with the same dialect reads the same fields that the writer has written. A field is in quotes only
/// if a reader needs them. Column names are an exception: a reader removes blanks around them.
///
/// **Files.** A file is written under a temporary name in the same folder, and gets its final name when ``finish()``
/// returns. Other programs see either the previous content or all rows. Without `finish`, and after an error, nothing
/// remains. A file that is not regular, such as a pipe or a device, is written directly.
///
/// **Threads.** Everything runs on the calling thread, which waits while a buffer of 64 KB is written. Use a writer in
/// one thread or task at a time.
///
/// **Errors** are of type ``CSVWriterError``.
public final class CSVWriter {
  /// The file's name in errors.
  public let path: String

  /// The format of the file.
  public let options: Options

  /// The column names.
  ///
  /// Nil if they are not known yet.
  public private(set) var columns: [String]?

  /// The number of rows that have been written, not counting the header.
  public private(set) var rowCount = 0

  private let format: FieldFormat
  /// Nil for memory.
  private let output: OutputFile?
  private var buffer: [UInt8] = []
  /// The number of fields in a row.
  ///
  /// Nil if it is not known yet.
  private var width: Int?
  private var hasRecords = false
  private var failure: CSVWriterError?
  private var isFinished = false

  private static let bufferSize = 64 << 10

  private init(_ output: OutputFile?, path: String, columns: [String]?, options: Options) {
    options.dialect.requireUsable()
    (self.output, self.path, self.options) = (output, path, options)
    format = FieldFormat(options.dialect, options.lineEnding)
    if output != nil { buffer.reserveCapacity(Self.bufferSize + Self.bufferSize / 8) }
    if let columns { begin(columns) }
  }

  /// Creates a file under a temporary name, which gets the name `path` when the writer is finished.
  ///
  /// - Parameters:
  ///   - path: The path of the file. `-` is standard output.
  ///   - columns: The column names; nil to use the keys of the first value that you encode. If you write fields
  ///     instead, there are no names.
  ///   - options: The format of the file.
  /// - Throws: ``CSVWriterError`` with the code `folderNotFound`, `isDirectory`, `permissionDenied`, `diskFull` or
  ///   `cannotWrite`.
  public convenience init(
    path: String, columns: [String]? = nil, options: Options = Options()
  ) throws(CSVWriterError) {
    let output = path == "-" ? OutputFile(descriptor: 1, path: path) : try OutputFile(path: path)
    self.init(output, path: path, columns: columns, options: options)
  }

  /// Writes to a descriptor, starting at its current position.
  ///
  /// - Parameters:
  ///   - fileDescriptor: The descriptor, open for writing. It is not closed and must stay open until the writer is
  ///     finished.
  ///   - columns: The column names; nil to use the keys of the first value that you encode. If you write fields
  ///     instead, there are no names.
  ///   - options: The format of the file.
  public convenience init(fileDescriptor: Int32, columns: [String]? = nil, options: Options = Options()) {
    let path = "/dev/fd/\(fileDescriptor)"
    self.init(
      OutputFile(descriptor: fileDescriptor, path: path), path: path, columns: columns, options: options)
  }

  /// Writes to memory: see ``bytes`` and ``text``.
  ///
  /// - Parameters:
  ///   - columns: The column names; nil to use the keys of the first value that you encode. If you write fields
  ///     instead, there are no names.
  ///   - options: The format of the bytes.
  public convenience init(columns: [String]? = nil, options: Options = Options()) {
    self.init(nil, path: "memory", columns: columns, options: options)
  }

  /// The bytes that have been written to memory.
  ///
  /// For a file, the bytes that have not been written to it yet.
  public var bytes: [UInt8] { buffer }

  /// The bytes that have been written to memory, as text.
  ///
  /// - Complexity: O(*n*) in the number of bytes.
  public var text: String { String(decoding: buffer, as: UTF8.self) }

  /// Writes the remaining bytes and gives the file its name.
  ///
  /// Calling this method again has no effect.
  ///
  /// - Throws: ``CSVWriterError`` with the code `diskFull`, or another error about the file. There is then no file, or
  ///   the one that existed before.
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

  /// Sets the column names, before the first row.
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
    require(!isFinished, "CSVWriter for \(path): a row was written after finish(). Call finish() after the last row.")
    if let failure { throw failure }
    if let width, width != count, options.raggedRowPolicy == .throw {
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

  /// Appends a field to the row that is being written.
  package func append(_ field: String, at position: Int) {
    var field = field
    field.withUTF8 { append(UnsafeRawBufferPointer($0), at: position) }
  }

  /// Appends a field to the row that is being written.
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
      // The buffer is not modified while the bytes are written.
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
    self.init(.raggedRow, path: path, rowNumber: rowNumber, context: RaggedRow.message(fields: count, columns: columns))
  }
}
