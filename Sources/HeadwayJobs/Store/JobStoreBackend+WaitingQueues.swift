@_spi(JobStore) extension JobStoreBackend {
  /// Returns the names of queues that have waiting jobs.
  ///
  /// - Parameters:
  ///   - name: Only names after this one are returned; nil for all.
  ///   - limit: The maximum number of names.
  /// - Returns: The names, in an order of the store.
  /// - Throws: ``JobError``.
  /// - Complexity: O(*n*) in the number of jobs of some stores.
  @_spi(JobStore) public func waitingQueues(after name: String?, limit: Int) async throws -> [String] {
    let names = try await counts().filter { $0.value[.waiting] > 0 }.keys.sorted()
    return Array(names.drop { $0 <= name ?? "" }.prefix(limit))
  }
}
