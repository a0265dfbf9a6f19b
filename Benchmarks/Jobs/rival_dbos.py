"""dbos: workflows of one function on a queue, at most 64 of them running, with shorter polling than the default.

By default, its database in a file has a rollback journal. A write-ahead log, which an administrator can set once, is about three
times as fast, so the benchmark sets it.
"""

import os
import sqlite3

import harness
import harness_postgres
import psycopg
import sqlalchemy
from dbos import DBOS, DBOSClient, _migration, _sys_db_sqlite
from dbos._dbos import _get_dbos_instance

QUEUE = "jobs"
OPTIONS = {"queue_name": QUEUE, "workflow_name": "handle", "app_version": "1"}

if sqlite3.sqlite_version_info < (3, 42):
    # dbos uses `unixepoch('subsec')` if Python is 3.12 or later, which SQLite might not know: Debian 12 has 3.40. These
    # are the expressions that it uses with an older Python.
    _migration.sqlite_migrations[:] = [
        statement.replace("unixepoch('subsec')", "strftime('%s', 'now')") for statement in _migration.sqlite_migrations]
    _sys_db_sqlite.SQLiteSystemDatabase._now_ms_sql = lambda self: sqlalchemy.cast(
        sqlalchemy.func.strftime("%s", "now") * 1000, sqlalchemy.BigInteger)


class Dbos(harness.Rival):
    package = "dbos"
    has_batches = True

    def open(self, store):
        self.is_on_server = store.startswith("postgres")
        if self.is_on_server:
            url = store
            self.reader = psycopg.connect(url, autocommit=True)
        else:
            self.reader = sqlite3.connect(store)
            self.reader.execute("PRAGMA journal_mode = WAL")
            url = f"sqlite:///{os.path.abspath(store)}"
        self.url = url
        DBOS(config={"name": "benchmark", "system_database_url": url, "log_level": "ERROR", "application_version": "1"})

        @DBOS.workflow(name="handle")
        def handle(payload):
            self.handle(payload)

        self.function = handle
        DBOS.launch()
        # A limit of 0 pauses the queue. There is no other way to start and stop it.
        self.queue = DBOS.register_queue(QUEUE, worker_concurrency=0, polling_interval_sec=0.02)
        self.client = DBOSClient(system_database_url=url)
        self.engine = sqlalchemy.create_engine(
            url.replace("postgresql://", "postgresql+psycopg://"),
            connect_args={} if self.is_on_server else {"timeout": 30})

    def close(self):
        DBOS.destroy()

    def enqueue(self, payload):
        DBOS.enqueue_workflow(QUEUE, self.function, payload)

    def enqueue_batch(self, payloads):
        with self.engine.begin() as connection:
            for payload in payloads:
                self.client.enqueue_in_transaction(connection, OPTIONS, payload)

    def ended(self):
        # Does not read the database while jobs run.
        if self.handled < self.enqueued:
            return self.handled
        table = "dbos.workflow_status" if self.is_on_server else "workflow_status"
        return self.reader.execute(f"SELECT COUNT(*) FROM {table} WHERE status = 'SUCCESS'").fetchone()[0]

    def start(self):
        self.queue.set_worker_concurrency(64)

    def stop(self):
        self.queue.set_worker_concurrency(0)

    def settings(self):
        return harness_postgres.settings(self.url) if self.is_on_server else super().settings()

    def execute(self, statement):
        with _get_dbos_instance()._sys_db.engine.connect() as connection:
            return connection.execute(sqlalchemy.text(statement)).scalar()


harness.main(Dbos())
