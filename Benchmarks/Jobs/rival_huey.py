"""huey: one connection behind a lock, one worker thread. A job is deleted when the worker takes it."""

import harness
from huey import SqliteHuey


class Huey(harness.Rival):
    package = "huey"

    def open(self, store):
        self.huey = SqliteHuey(filename=store, fsync=True)
        self.enqueue = self.huey.task()(self.handle_without_result)

    def handle_without_result(self, payload):
        self.handle(payload)

    def start(self):
        # The shortest waits that its options allow, so that the worker never rests while there is work.
        self.consumer = self.huey.create_consumer(workers=1, periodic=False, initial_delay=0.001, max_delay=0.001)
        self.consumer.start()

    def stop(self):
        self.consumer.stop(graceful=True)

    def execute(self, statement):
        with self.huey.storage.db() as cursor:
            cursor.execute(statement)
            return (cursor.fetchone() or [None])[0]


harness.main(Huey())
