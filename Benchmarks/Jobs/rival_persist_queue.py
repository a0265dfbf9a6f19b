"""persist-queue: the queue with acknowledgements, one connection for all writes, and a worker thread.

Its query for the next item reads all acknowledged items, so the worker continues after the last one, as the
documentation describes, and deletes acknowledged items in groups of 1,000.
"""

import os
import threading

import harness
from persistqueue import Empty, SQLiteAckQueue
from persistqueue.serializers import json


class PersistQueue(harness.Rival):
    package = "persist-queue"

    def open(self, store):
        folder, name = os.path.split(os.path.abspath(store))
        self.queue = SQLiteAckQueue(folder, db_file_name=name, multithreading=True, serializer=json)
        self.enqueue = self.queue.put
        self.acknowledged = 0

    def close(self):
        self.queue.close()

    def work(self):
        last = 0
        while not self.is_stopped:
            try:
                item = self.queue.get(timeout=0.01, raw=True, id=last, next_in_order=True)
            except Empty:
                continue
            last = item["pqid"]
            self.handle(item["data"])
            self.queue.ack(id=last)
            self.acknowledged += 1
            if self.acknowledged % 1_000 == 0:
                self.queue.clear_acked_data(max_delete=1_000, keep_latest=0)

    def ended(self):
        return self.acknowledged

    def start(self):
        self.is_stopped = False
        self.worker = threading.Thread(target=self.work)
        self.worker.start()

    def stop(self):
        self.is_stopped = True
        self.worker.join()

    def execute(self, statement):
        # It has no setting for this, and no public connection.
        with self.queue.tran_lock:
            return (self.queue._putter.execute(statement).fetchone() or [None])[0]


harness.main(PersistQueue())
