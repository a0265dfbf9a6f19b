"""procrastinate: psycopg, a pool of connections, and a worker that runs 64 jobs at a time."""

import harness
import procrastinate
from harness_postgres import AsyncRival


class Procrastinate(AsyncRival):
    package = "procrastinate"

    async def open_async(self, url):
        self.app = procrastinate.App(connector=procrastinate.PsycopgConnector(conninfo=url, min_size=8, max_size=8))

        @self.app.task(name="count")
        async def count(payload):
            self.handle(payload)

        self.task = count
        await self.app.open_async()
        await self.app.schema_manager.apply_schema_async()

    async def close_async(self):
        await self.app.close_async()

    async def enqueue_async(self, payload):
        await self.task.defer_async(payload=payload)

    async def enqueue_batch_async(self, payloads):
        await self.task.batch_defer_async(*({"payload": payload} for payload in payloads))

    async def run_worker(self):
        await self.app.run_worker_async(concurrency=64, install_signal_handlers=False)

    async def ended_async(self):
        sql = "SELECT count(*) AS number FROM procrastinate_jobs WHERE status = 'succeeded'"
        return (await self.app.connector.execute_query_one_async(sql))["number"]


harness.main(Procrastinate())
