#if Compression
import CArchive

/// Compresses bytes by one of libarchive's filters, which are named like the programs: `gzip`, `bzip2`, `xz`, `zstd`,
/// `lz4`.
///
/// The input must not be empty: for empty input, some filters of libarchive 3.6 have no state.
public func compressed(_ bytes: [UInt8], by filter: String) -> [UInt8] {
  var capacity = bytes.count + 100_000
  while true {
    var result = [UInt8](repeating: 0, count: capacity)
    var used = 0
    let archive = archive_write_new()
    defer { archive_write_free(archive) }
    let entry = archive_entry_new()
    defer { archive_entry_free(entry) }
    archive_entry_set_filetype(entry, 0o100000)
    archive_write_set_format_raw(archive)
    let isKnown = archive_write_add_filter_by_name(archive, filter) == ARCHIVE_OK
    precondition(isKnown, "libarchive has no filter \(filter)")
    // The array stays at its address from here to the end.
    let isWritten = result.withUnsafeMutableBytes { buffer in
      archive_write_set_bytes_in_last_block(archive, 1)
      return archive_write_open_memory(archive, buffer.baseAddress, buffer.count, &used) == ARCHIVE_OK
        && archive_write_header(archive, entry) == ARCHIVE_OK
        && bytes.withUnsafeBytes { archive_write_data(archive, $0.baseAddress, $0.count) } == bytes.count
        && archive_write_close(archive) == ARCHIVE_OK
    }
    if isWritten { return Array(result[..<used]) }
    capacity *= 2
  }
}
#endif
