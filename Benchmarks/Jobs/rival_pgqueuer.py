"""pgqueuer: asyncpg, a pool of connections for the producers, and a worker with a connection of its own.

The size of a batch is that of the environment variable `BATCH_SIZE`, or 10, the default of pgqueuer.
"""

import os

import asyncpg
import harness
from harness_postgres import AsyncRival
from pgqueuer import PgQueuer
from pgqueuer.db import AsyncpgDriver, AsyncpgPoolDriver
from pgqueuer.queries import Queries


class PgQueuerRival(AsyncRival):
    package = "pgqueuer"

    async def open_async(self, url):
        # More connections would make it slower on two processors.
        self.pool = await asyncpg.create_pool(url, min_size=8, max_size=8)
        self.queries = Queries(AsyncpgPoolDriver(self.pool))
        await self.queries.install()

    async def close_async(self):
        await self.pool.close()

    async def enqueue_async(self, payload):
        await self.queries.enqueue("count", payload.encode())

    async def enqueue_batch_async(self, payloads):
        await self.queries.enqueue(
            ["count"] * len(payloads), [payload.encode() for payload in payloads], [0] * len(payloads))

    async def run_worker(self):
        connection = await asyncpg.connect(self.url)
        self.queuer = PgQueuer(AsyncpgDriver(connection))

        @self.queuer.entrypoint("count")
        async def count(job):
            self.handle(job.payload)

        try:
            await self.queuer.run(batch_size=int(os.environ.get("BATCH_SIZE", "10")))
        finally:
            await connection.close()

    async def stop_worker(self):
        self.queuer.shutdown.set()

    async def ended_async(self):
        # Ended jobs leave the table.
        return self.enqueued - await self.pool.fetchval("SELECT count(*) FROM pgqueuer")


harness.main(PgQueuerRival())
