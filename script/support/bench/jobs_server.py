"""A PostgreSQL server for `script/bench jobs --postgres`, on the disk of the repository, with the default durability."""

import glob
import os
import shutil
import subprocess
import tempfile

from .paths import WORKSHOP

FOLDER = f"{WORKSHOP}/jobs-postgres"
SETTINGS = """
listen_addresses = ''
max_connections = 200
shared_buffers = 256MB
max_wal_size = 4GB
"""


class Server:
    """Runs as the user `postgres` if this script runs as root, because a server does not run as root."""

    def __init__(self):
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin") + glob.glob("/opt/homebrew/opt/postgresql*/bin"))
        self.programs = next(path for path in reversed(found) if os.path.exists(f"{path}/postgres"))
        shutil.rmtree(FOLDER, ignore_errors=True)
        os.makedirs(FOLDER)
        # The path of a socket has at most about 100 characters.
        self.socket = tempfile.mkdtemp(prefix="headway-pg-")
        if os.geteuid() == 0:
            for path in (FOLDER, self.socket):
                shutil.chown(path, "postgres", "postgres")
        self.run("initdb", "-D", f"{FOLDER}/data", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale=C")
        with open(f"{FOLDER}/data/postgresql.conf", "a") as file:
            file.write(f"{SETTINGS}unix_socket_directories = '{self.socket}'\n")
        self.run("pg_ctl", "-D", f"{FOLDER}/data", "-l", f"{FOLDER}/log", "-w", "start")

    def run(self, program, *arguments):
        user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups"] if os.geteuid() == 0 else []
        subprocess.run([*user, f"{self.programs}/{program}", *arguments], check=True, stdout=subprocess.DEVNULL)

    def psql(self, url, *statements):
        commands = [part for statement in statements for part in ("-c", statement)]
        subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", url, *commands], check=True,
                       stdout=subprocess.DEVNULL)

    def fresh_store(self):
        """The URL of an empty database. The data of the previous run is on the disk."""
        statements = ["DROP DATABASE IF EXISTS bench WITH (FORCE)", "CREATE DATABASE bench", "CHECKPOINT"]
        commands = [part for statement in statements for part in ("-c", statement)]
        subprocess.run(["psql", "-X", "-q", "-h", self.socket, "-U", "postgres", *commands], check=True,
                       stderr=subprocess.DEVNULL)
        os.sync()
        return f"postgresql://postgres@/bench?host={self.socket}"

    def counters(self):
        """The use of the server so far: seconds of processor time, syncs of its log, and bytes of its log."""
        with open(f"{FOLDER}/data/postmaster.pid") as file:
            postmaster = file.readline().strip()
        ticks = 0
        for path in glob.glob("/proc/[0-9]*/stat"):
            try:
                with open(path) as file:
                    fields = file.read().rsplit(")", 1)[1].split()
            except OSError:
                continue  # The process has ended.
            process = path.split("/")[2]
            if process == postmaster:
                ticks += sum(map(int, fields[11:15]))  # With the processes that have ended.
            elif fields[1] == postmaster:
                ticks += sum(map(int, fields[11:13]))
        query = "SELECT wal_sync, pg_current_wal_insert_lsn() - '0/0' FROM pg_stat_wal"
        command = ["psql", "-X", "-A", "-t", "-F", " ", "-h", self.socket, "-U", "postgres", "-c", query]
        syncs, length = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        return [ticks / os.sysconf("SC_CLK_TCK"), int(syncs), int(length)]

    def stop(self):
        self.run("pg_ctl", "-D", f"{FOLDER}/data", "-m", "immediate", "-w", "stop")
        shutil.rmtree(FOLDER, ignore_errors=True)
        shutil.rmtree(self.socket, ignore_errors=True)
