#if SQLite
  import Foundation

  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Musl)
    import Musl
  #else
    import Glibc
  #endif

  /// What the tool prints, at once: `print` keeps text back where it goes into a pipe.
  enum StandardOutput {
    /// Makes sure that no file gets the number of a standard stream that is closed, and with it what is printed.
    ///
    /// Writing to a stream that is closed fails after it as before. It is called before anything is opened.
    static func keepStreams() {
      for stream in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(stream, F_GETFD) < 0 {
        // The lowest number that is free is the stream's.
        _ = open("/dev/null", O_RDONLY)
      }
    }

    /// Writes text.
    ///
    /// Where that fails, since nothing reads any more or the disk is full, it ends the process. A pipe that nothing
    /// reads is exit code 141, by the shell's convention, without a message.
    static func write(_ text: String) {
      do {
        try attempt(text)
      } catch {
        guard error.code != .EPIPE else { _exit(128 + SIGPIPE) }
        ToolExit.say("standard output: \(String(cString: strerror(error.code.rawValue)))")
        _exit(ToolExit.inputOutput.rawValue)
      }
    }

    /// Writes text, for a command that goes on without.
    ///
    /// - Throws: What the system says.
    static func attempt(_ text: String) throws(POSIXError) {
      var bytes = Array(text.utf8)[...]
      while !bytes.isEmpty {
        let count = bytes.withUnsafeBytes { systemWrite(STDOUT_FILENO, $0) }
        if count >= 0 { bytes = bytes.dropFirst(count) } else if errno != EINTR { throw POSIXError(errno) }
      }
    }
  }

  /// Outside of the type, whose own `write` would hide that of the system.
  private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
  }

  extension POSIXError {
    fileprivate init(_ number: Int32) { self.init(Code(rawValue: number) ?? .EIO) }
  }
#endif
