"""Drives the pages of the dashboard: `check_dashboard.py PROGRAM [--pictures FOLDER]`."""

import importlib
import pathlib
import pkgutil
import sys
import tempfile
import time

import dashboard_checks
from dashboard_checks.program import Program
from webdriver import Driver


def said(text):
    print(f"{time.monotonic() - START:6.1f} s  {text}", flush=True)


def checks():
    """The functions `check` of the modules in the package, in alphabetical order; those with `IS_LAST` at the end."""
    names = [module.name for module in pkgutil.iter_modules(dashboard_checks.__path__)]
    modules = [importlib.import_module(f"dashboard_checks.{name}") for name in names]
    modules.sort(key=lambda module: (getattr(module, "IS_LAST", False), module.__name__))
    return [module.check for module in modules if hasattr(module, "check")]


def log_in(driver, program):
    """Waits until only the jobs that take an hour are running, and all attempts of the others have ended."""
    driver.open(program.login)
    for query, count in (("state=running&label=Long", 3), ("state=failed&label=Slow", 1)):
        driver.wait(f"jobs with {query}", lambda: (
            driver.open(f"{program.origin}/jobs?{query}") or driver.run(
                "return document.querySelectorAll('main tbody tr').length") == count))


def main():
    program_path, *arguments = sys.argv[1:]
    pictures = pathlib.Path(arguments[1]) if arguments[:1] == ["--pictures"] else None
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        program = Program(program_path, folder + "/jobs.sqlite", "--scene")
        driver = Driver(folder + "/browser")
        driver.pictures = pictures
        try:
            log_in(driver, program)
            for check in checks():
                check(driver, program, said)
        finally:
            driver.quit()
            program.stop()
    said("done")


START = time.monotonic()
main()
