"""A dashboard that serves a store."""

import re
import signal
import subprocess


class Program:
    """A dashboard that was started, optionally with the jobs of the scene and a worker (`--scene`)."""

    def __init__(self, path, store, *arguments):
        self.path, self.store = path, store
        self.process = subprocess.Popen([path, store, *arguments], stdout=subprocess.PIPE, text=True)
        self.login = self.process.stdout.readline().strip()
        self.origin = re.match(r"http://[^/]+", self.login).group(0)

    def another(self, *arguments):
        """Starts another dashboard of the same store."""
        return Program(self.path, self.store, *arguments)

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        self.process.kill()
        self.process.wait()
