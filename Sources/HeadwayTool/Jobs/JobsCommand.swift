#if Jobs
import ArgumentParser

/// The commands for the durable jobs of an application.
struct JobsCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "jobs",
    abstract: "Inspect and change durable jobs in SQLite and PostgreSQL.",
    discussion: """
      Workers can use the store at the same time. These commands run no jobs. For jobs in PostgreSQL, specify a URL, \
      such as `--store postgres://app@db.example.com/app`, and use --schema if the tables are not in the schema headway.

      EXAMPLES:
        headway jobs status --store jobs.sqlite
        headway jobs list --store jobs.sqlite --state failed
        headway jobs show 7 --store jobs.sqlite
        headway jobs retry --store jobs.sqlite --state failed --kind resize
        headway jobs cancel 8 9 --store jobs.sqlite
        headway jobs run-now 5 --store jobs.sqlite
        headway jobs edit 6 --priority high --start +10m --store jobs.sqlite
        headway jobs signal 3 --name approved --store jobs.sqlite
        headway jobs abandon 4 --store jobs.sqlite
        headway jobs delete --store jobs.sqlite --state failed --until -7d
        headway jobs errors --store jobs.sqlite
        headway jobs queues --store jobs.sqlite
        headway jobs queues set default --max-running 8 --store jobs.sqlite
        headway jobs queues pause default --store jobs.sqlite
        headway jobs schedules --store jobs.sqlite
        headway jobs schedules run nightly --store jobs.sqlite
        headway jobs watch --store jobs.sqlite --json
        headway jobs audit --store jobs.sqlite
        headway jobs prune --store jobs.sqlite
        headway jobs check --store jobs.sqlite
        headway jobs migrate --store jobs.sqlite

      EXIT CODES:
        0    success
        1    the check found a defect, or a finding of the doctor is bad
        64   a usage error
        65   the store has no tables, or newer tables; a job or schedule does not exist, or a key is held
        66   the file does not exist
        70   an error in headway itself
        73   the file cannot be written
        74   reading or writing failed, for example because the disk is full
        75   another program has locked the store
        130  SIGINT stopped the command; 129 and 143 are the codes for SIGHUP and SIGTERM
      """,
    subcommands: [
      JobsStatusCommand.self, JobsListCommand.self, JobsShowCommand.self, JobsWatchCommand.self,
      ChangeJobsCommand<RetryJobs>.self, ChangeJobsCommand<CancelJobs>.self, ChangeJobsCommand<RunJobsNow>.self,
      JobsEditCommand.self, JobsSignalCommand.self, ChangeJobsCommand<AbandonJobs>.self,
      ChangeJobsCommand<DeleteJobs>.self,
      JobsErrorsCommand.self, JobsQueuesCommand.self, JobsSchedulesCommand.self, JobsAuditCommand.self,
      JobsPruneCommand.self,
      JobsCheckCommand.self,
      JobsDoctorCommand.self, JobsMigrateCommand.self, JobsGrantCommand.self,
    ])
}
#endif
