"""litequeue: one connection behind a lock, and a worker thread that takes a job, runs it, and marks it as done."""

import threading
import time

import harness
from litequeue import LiteQueue


class Litequeue(harness.Rival):
    package = "litequeue"
    has_batches = True

    def open(self, store):
        self.queue = LiteQueue(store)
        # It sets NORMAL, which does not sync a commit.
        self.execute("PRAGMA synchronous = FULL")
        self.enqueue = self.queue.put
        self.done = 0

    def close(self):
        self.queue.close()

    def enqueue_batch(self, payloads):
        with self.queue.transaction("IMMEDIATE"):
            for payload in payloads:
                self.queue.put(payload)

    def work(self):
        while not self.is_stopped:
            if message := self.queue.pop():
                self.handle(message.data)
                self.queue.done(message.message_id, claim_id=message.claim_id)
                self.done += 1
            else:
                time.sleep(0.001)

    def ended(self):
        return self.done

    def start(self):
        self.is_stopped = False
        self.worker = threading.Thread(target=self.work)
        self.worker.start()

    def stop(self):
        self.is_stopped = True
        self.worker.join()

    def execute(self, statement):
        return (self.queue.conn.execute(statement).fetchone() or [None])[0]


harness.main(Litequeue())
