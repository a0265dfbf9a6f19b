#if Jobs
@_spi(JobStore) import HeadwayJobs

extension JobRow {
  /// Binds an unfinished job to ``JobSQL/insert`` or ``JobSQL/update``, or to a row of ``JobSQL/insertBatch``.
  static func bindUnfinished(_ job: JobRecord, to statement: SQLStatement, row: Int = 0, flags: Int = 0) {
    var values = ParameterBinder(statement, from: row * (common.count + unfinished.count) + 1)
    writeUnfinished(job, flags: flags, to: &values)
  }

  /// Binds an attempt to the parameters of ``JobSQL/isRun``.
  static func bind(_ fence: JobFence, to statement: SQLStatement) {
    var values = ParameterBinder(statement)
    write(fence, to: &values)
  }
}
#endif
