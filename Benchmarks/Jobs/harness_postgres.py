"""A thread with an event loop, and the settings, for the PostgreSQL-based rivals that are written with `asyncio`."""

import asyncio
import threading

import harness
import psycopg


def settings(url):
    """The settings of the server that determine whether a commit is durable."""
    with psycopg.connect(url) as connection:
        values = [connection.execute(f"SHOW {name}").fetchone()[0] for name in ("synchronous_commit", "fsync")]
        version = connection.execute("SHOW server_version").fetchone()[0]
    return {"journal": "WAL", "synchronous": "FULL" if values == ["on", "on"] else "OFF", "server": version}


class AsyncRival(harness.Rival):
    """A queue whose functions are coroutines. Its producers and its worker share an event loop, as in its examples."""

    has_batches = True

    async def open_async(self, url):
        raise NotImplementedError

    async def close_async(self):
        raise NotImplementedError

    async def enqueue_async(self, payload):
        raise NotImplementedError

    async def enqueue_batch_async(self, payloads):
        raise NotImplementedError

    async def run_worker(self):
        """Runs the worker until `stop_worker` is called, or until it is cancelled."""
        raise NotImplementedError

    async def stop_worker(self):
        self.worker.cancel()

    async def ended_async(self):
        """The number of jobs whose end is recorded."""
        raise NotImplementedError

    def await_(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    def open(self, store):
        self.url, self.loop = store, asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()
        self.await_(self.open_async(store))

    def produce(self, payloads, producers):
        async def produce(first):
            for number in range(first, len(payloads), producers):
                await self.enqueue_async(payloads[number])

        async def produce_all():
            await asyncio.gather(*(produce(first) for first in range(producers)))

        self.await_(produce_all())

    def enqueue_batch(self, payloads):
        self.await_(self.enqueue_batch_async(payloads))

    def start(self):
        async def start():
            self.worker = asyncio.create_task(self.run_worker())

        self.await_(start())

    def stop(self):
        async def stop():
            await self.stop_worker()
            await asyncio.gather(self.worker, return_exceptions=True)

        self.await_(stop())

    def ended(self):
        # Does not read the database while jobs run.
        return self.handled if self.handled < self.enqueued else self.await_(self.ended_async())

    def close(self):
        self.await_(self.close_async())

    def settings(self):
        return settings(self.url)
