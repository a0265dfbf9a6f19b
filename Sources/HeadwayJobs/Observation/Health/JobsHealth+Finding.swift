extension JobsHealth {
  /// A check with its result.
  public struct Finding: Hashable, Codable, Sendable {
    /// The severity of the result.
    public var level: Level
    /// The subject of the check, for example `Workers`.
    ///
    /// Several findings can have the same subject, for example one for each kind whose attempts fail.
    public var name: String
    /// The result, in sentences.
    public var text: String
    /// What the finding is about; nil for the store as a whole.
    public var link: Link?

    /// Creates a finding.
    ///
    /// - Parameters:
    ///   - level: The severity of the result.
    ///   - name: The subject of the check.
    ///   - text: The result, in sentences.
    ///   - link: What the finding is about.
    @_spi(JobStore) public init(level: Level, name: String, text: String, link: Link? = nil) {
      self.level = level
      self.name = name
      self.text = text
      self.link = link
    }
  }

  /// What a finding is about, so that a page can link to it.
  public enum Link: Hashable, Sendable {
    /// The jobs of a filter.
    case jobs(JobFilter)
    /// The queue with this name.
    case queue(String)
    /// The schedule with this name.
    case schedule(String)
    /// A worker.
    case worker(WorkerID)
    /// The errors of all jobs.
    case errors
  }
}

/// Encodes a link as an object with one member, for example `{"queue": "mail"}`.
extension JobsHealth.Link: Codable {
  private enum CodingKeys: CodingKey { case jobs, queue, schedule, worker, errors }

  /// Creates a link from its encoded form.
  ///
  /// - Parameter decoder: Reads an object with one member.
  /// - Throws: `DecodingError`.
  public init(from decoder: any Decoder) throws {
    let object = try decoder.container(keyedBy: CodingKeys.self)
    switch object.allKeys.first {
    case .jobs: self = .jobs(try object.decode(JobFilter.self, forKey: .jobs))
    case .queue: self = .queue(try object.decode(String.self, forKey: .queue))
    case .schedule: self = .schedule(try object.decode(String.self, forKey: .schedule))
    case .worker: self = .worker(try object.decode(WorkerID.self, forKey: .worker))
    case .errors: self = .errors
    case nil:
      throw DecodingError.dataCorrupted(
        DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "The link of a finding is unknown."))
    }
  }

  /// Encodes the link.
  ///
  /// - Parameter encoder: Writes an object with one member.
  /// - Throws: `EncodingError`.
  public func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .jobs(let filter): try object.encode(filter, forKey: .jobs)
    case .queue(let name): try object.encode(name, forKey: .queue)
    case .schedule(let name): try object.encode(name, forKey: .schedule)
    case .worker(let id): try object.encode(id, forKey: .worker)
    case .errors: try object.encode(true, forKey: .errors)
    }
  }
}

@_spi(JobStore) extension JobsHealth.Finding {
  /// Creates a finding without a problem.
  public static func good(_ name: String, _ text: String, link: JobsHealth.Link? = nil) -> Self {
    Self(level: .good, name: name, text: text, link: link)
  }

  /// Creates a finding that needs attention.
  public static func warning(_ name: String, _ text: String, link: JobsHealth.Link? = nil) -> Self {
    Self(level: .warning, name: name, text: text, link: link)
  }

  /// Creates a finding about jobs that wait, fail, or could be lost.
  public static func bad(_ name: String, _ text: String, link: JobsHealth.Link? = nil) -> Self {
    Self(level: .bad, name: name, text: text, link: link)
  }
}

extension JobsHealth.Finding {
  /// A commit that takes longer than this is a finding.
  private static let slowCommit = Duration.milliseconds(100)

  /// Creates the finding about the time of a commit.
  ///
  /// - Parameter time: How long a commit took.
  @_spi(JobStore) public init(commitTook time: Duration) {
    let isSlow = time > Self.slowCommit
    self.init(
      level: isSlow ? .warning : .good, name: "Commit",
      text: "A commit took \(Readable.duration(time)) to become durable."
        + (isSlow ? " Check the disk, or add jobs in batches." : ""))
  }
}
