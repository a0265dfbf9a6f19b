#if Compression
import CArchive

/// A zip archive of files.
///
/// - Parameters:
///   - files: The names and contents.
///   - password: The password that encrypts them; nil if they are not encrypted.
/// - Returns: The bytes of the archive.
public func zipped(_ files: [(name: String, text: String)], password: String? = nil) -> [UInt8] {
  var result = [UInt8](repeating: 0, count: 100_000 + files.reduce(0) { $0 + $1.text.utf8.count + 1_000 })
  var used = 0
  let archive = archive_write_new()
  defer { archive_write_free(archive) }
  archive_write_set_format_zip(archive)
  if let password {
    archive_write_set_options(archive, "zip:encryption=zipcrypt")
    archive_write_set_passphrase(archive, password)
  }
  archive_write_set_bytes_in_last_block(archive, 1)
  let entry = archive_entry_new()
  defer { archive_entry_free(entry) }
  // The array stays at its address from here to the end.
  let isWritten = result.withUnsafeMutableBytes { buffer in
    archive_write_open_memory(archive, buffer.baseAddress, buffer.count, &used) == ARCHIVE_OK
      && files.allSatisfy { file in
        var text = file.text
        archive_entry_clear(entry)
        archive_entry_set_pathname(entry, file.name)
        // S_IFREG, S_IFDIR
        archive_entry_set_filetype(entry, file.name.hasSuffix("/") ? 0o040000 : 0o100000)
        archive_entry_set_perm(entry, 0o644)
        archive_entry_set_size(entry, Int64(text.utf8.count))
        return archive_write_header(archive, entry) == ARCHIVE_OK
          && text.withUTF8 { archive_write_data(archive, $0.baseAddress, $0.count) } == text.utf8.count
      } && archive_write_close(archive) == ARCHIVE_OK
  }
  precondition(isWritten, "libarchive can't write the archive")
  return Array(result[..<used])
}

/// A zip archive that declares the given uncompressed size for its first file.
public func claiming(_ size: UInt32, _ archive: [UInt8]) -> [UInt8] {
  var archive = archive
  // The file's own header, and its header in the archive's directory, with the positions of the size in them.
  for (signature, place) in [([0x50, 0x4B, 3, 4] as [UInt8], 22), ([0x50, 0x4B, 1, 2], 24)] {
    let header = archive.indices.first { archive[$0...].starts(with: signature) } ?? 0
    withUnsafeBytes(of: size.littleEndian) {
      archive.replaceSubrange(header + place..<header + place + 4, with: $0)
    }
  }
  return archive
}
#endif
