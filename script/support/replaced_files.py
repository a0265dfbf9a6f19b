"""Replaces either all files or, after an error or an interruption, none."""

import os
import pathlib
import signal
import tempfile


class ReplacementError(Exception):
    """Why no file was changed: a line for each obstacle."""


def replace_files(contents):
    """Replaces the old content of each path by the new one. Modes, owners and attributes stay.

    All contents are on the disk before the first file is replaced. If a later step fails, the old files return.
    """
    obstacles = [f"{path}: {why}" for path in contents if (why := obstacle(path))]
    if obstacles:
        raise ReplacementError("\n".join(obstacles))
    with Interruptions():
        prepared, replaced = [], []
        try:
            for path, (old, new) in contents.items():
                prepared.append(prepare(path, new))
                prepared.append(prepare(path, old))
            for path, old, new, saved in zip(contents, contents.values(), prepared[::2], prepared[1::2]):
                if path.read_bytes() != old[0]:
                    raise ReplacementError(f"{path}: another program has changed it in the meantime")
                replaced.append((path, saved))
                os.replace(new, path)
        except BaseException as error:
            for path, saved in replaced:
                os.replace(saved, path)
            if isinstance(error, OSError):
                raise ReplacementError(f"{error.filename}: {error.strerror}") from error
            raise
        finally:
            for file in prepared:
                file.unlink(missing_ok=True)


def obstacle(path):
    if not os.access(path.parent, os.W_OK | os.X_OK):
        return f"the folder {path.parent} is read-only"
    return None if os.access(path, os.W_OK) else "the file is read-only"


def prepare(path, content):
    """Creates a file next to `path` with its mode, owner and attributes, and new content."""
    status = path.stat()
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".migrate-")
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            if (status.st_uid, status.st_gid) != (os.getuid(), os.getgid()):
                os.fchown(file.fileno(), status.st_uid, status.st_gid)
            os.fchmod(file.fileno(), status.st_mode & 0o7777)
            if hasattr(os, "listxattr"):
                for attribute in os.listxattr(path):
                    os.setxattr(name, attribute, os.getxattr(path, attribute))
            file.flush()
            os.fsync(file.fileno())
    except BaseException as error:
        os.unlink(name)
        if isinstance(error, OSError):
            error.filename = str(path)
        raise
    return pathlib.Path(name)


class Interruptions:
    """Turns signals that terminate a process into exceptions, so that the old files can be restored."""

    SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]

    def __enter__(self):
        self.former = {number: signal.signal(number, self.stop) for number in self.SIGNALS}

    def __exit__(self, *_):
        for number, handler in self.former.items():
            signal.signal(number, handler)

    def stop(self, number, _):
        for other in self.SIGNALS:
            signal.signal(other, signal.SIG_IGN)
        raise SystemExit(128 + number)
