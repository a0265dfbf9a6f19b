"""Drives the pages of the dashboard: `check_dashboard.py PROGRAM [--pictures FOLDER]`."""

import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

from webdriver import Driver

WIDTHS = {"wide": (1280, 900), "phone": (380, 780)}
SCHEMES = ["light", "dark"]


class Program:
    """A dashboard that was started."""

    def __init__(self, program, store, *arguments):
        self.process = subprocess.Popen([program, store, *arguments], stdout=subprocess.PIPE, text=True)
        self.login = self.process.stdout.readline().strip()
        self.origin = re.match(r"http://[^/]+", self.login).group(0)

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        self.process.kill()
        self.process.wait()


def said(text):
    print(f"{time.monotonic() - START:6.1f} s  {text}", flush=True)


def page_errors(driver):
    """The complaints of the browser, and text that became markup."""
    found = driver.errors()
    if driver.run("return document.querySelectorAll('img, main script, [onerror], [onload], [style]').length"):
        found.append("text of a job became markup")
    if driver.run("return document.documentElement.scrollWidth > innerWidth"):
        found.append("the page is wider than the window")
    return found


def link(driver, text):
    """The address of the first link or job row that contains a text."""
    return driver.run(
        "const row = [...document.querySelectorAll('tr, .button, a')].find(r => r.textContent.includes(arguments[0]));"
        "return row?.href ?? row?.querySelector('a')?.href ?? null", text)


def press(driver, text):
    """Presses the button with a text and waits for the next page."""
    driver.run(
        "document.body.dataset.old = 'yes';"
        "[...document.querySelectorAll('main button')].find(b => b.textContent === arguments[0]).click()", text)
    driver.wait(f"the page after {text}", lambda: driver.run("return document.body?.dataset.old !== 'yes'"))


def check_pages(driver, program, pictures):
    driver.open(program.login)
    driver.wait("the scene is complete", lambda: (
        driver.open(program.origin + "/jobs?state=running") or driver.run(
            "return document.querySelectorAll('tbody tr').length") == 4))
    driver.open(program.origin + "/jobs?label=Merge")
    merge = link(driver, "Merge the feeds")
    driver.open(program.origin + "/jobs?label=Long")
    long = link(driver, "Long conversion")
    driver.open(program.origin + "/jobs?state=failed")
    failed = link(driver, "failed")
    driver.open(program.origin + "/jobs?queue=exports&label=script")
    attack = link(driver, "<script>")
    pages = {name or "overview": f"{program.origin}/{name}" for name in (
        "", "queues", "jobs", "failures", "schedules", "workers", "health")}
    pages |= {"merge": merge, "running": long, "failed": failed, "attack": attack,
              "filter": program.origin + "/jobs?state=waiting&queue=bulk",
              "confirm": program.origin + "/confirm?action=retry&state=failed",
              "nothing": program.origin + "/nothing"}
    for scheme in SCHEMES:
        driver.emulate({"prefers-color-scheme": scheme})
        for width, size in WIDTHS.items():
            driver.resize(*size)
            for name, address in pages.items():
                driver.open(address)
                errors = [e for e in page_errors(driver) if name != "nothing" or "404" not in e]
                assert not errors, (name, scheme, width, errors)
                if pictures:
                    height = driver.run("return document.documentElement.scrollHeight")
                    driver.resize(size[0], min(height, 2400))
                    driver.picture(pictures / f"{name}-{scheme}-{width}.png")
                    driver.resize(*size)
        said(f"{len(pages)} pages, {scheme}, {' and '.join(WIDTHS)}")
    driver.resize(*WIDTHS["wide"])
    return pages


def check_changes(driver, program, pages):
    driver.open(pages["failed"])
    press(driver, "Retry")
    assert "The job runs again." in driver.text("main"), driver.text("main")
    driver.open(program.origin + "/jobs?queue=bulk&state=waiting")
    driver.open(link(driver, "Cancel all…"))
    assert "Cancel 12 jobs?" in driver.text("h1"), driver.text("h1")
    press(driver, "Cancel 12 jobs")
    assert "Cancelled: 12 jobs." in driver.text("main")
    driver.open(program.origin + "/schedules")
    press(driver, "Run now")
    assert "The schedule has added this job." in driver.text("main")
    driver.open(program.origin + "/jobs?state=scheduled&kind=publish")
    driver.open(link(driver, "scheduled"))
    driver.run(
        "const form = document.querySelector('.change'); form.elements.priority.value = 'high';"
        "form.elements.deadline.value = '2100-01-31T18:30'")
    press(driver, "Save")
    assert "The job is changed." in driver.text("main"), driver.text("main")
    properties = driver.text("#properties")
    assert "priority4" in properties and "deadline" in properties and "due" in properties, properties
    # The browser sends the other fields as they were shown.
    press(driver, "Save")
    assert "The job already had these values." in driver.text("main"), driver.text("main")
    press(driver, "Run now")
    assert "The job is due now." in driver.text("main"), driver.text("main")
    said("changes by the buttons")


def check_live(driver, program):
    """A page follows a change that another page makes, and what a person types stays."""
    driver.open(program.origin + "/queues")
    first = driver.window()
    driver.open(program.origin + "/")
    driver.wait("the page is live", lambda: driver.run("return document.querySelector('#live').classList.contains('on')"))
    assert "paused" not in driver.run(
        "return [...document.querySelectorAll('#queues tr')].find(r => r.textContent.includes('images')).textContent")
    second = driver.new_window()
    driver.switch(second)
    driver.open(program.origin + "/queues")
    driver.run(
        "document.body.dataset.old = 'yes'; const queue = [...document.querySelectorAll('.queue')]"
        ".find(q => q.querySelector('h2').textContent === 'images');"
        "[...queue.querySelectorAll('button')].find(b => b.textContent === 'Pause').click()")
    driver.wait("the queue is paused", lambda: "The queue is paused." in (driver.text("main") or ""))
    driver.command("DELETE", "/window")
    driver.switch(first)
    driver.wait("the other page shows it", lambda: "paused" in driver.run(
        "return [...document.querySelectorAll('#queues tr')].find(r => r.textContent.includes('images')).textContent"))
    said("a page follows a change")


def change(driver, **fields):
    """Sends the form of a button without changing the page."""
    driver.run(
        "const form = new URLSearchParams(arguments[0]);"
        "form.set('token', document.querySelector('input[name=token]').value);"
        "const address = document.body.dataset.events.replace('events', 'change');"
        "return fetch(address, { method: 'POST', body: form }).then((response) => response.status)", fields)


def is_live(driver):
    return driver.run("return document.querySelector('#live').classList.contains('on')"
                      " && document.querySelector('#warning').hidden")


def check_parts(driver, program):
    """Parts that appear later are shown, and the selection, the focus and typed text remain."""
    driver.open(program.origin + "/jobs?label=Long&state=running")
    address = link(driver, "Long conversion 2")
    driver.open(address)
    assert "finished" not in driver.text("#properties")
    driver.run(
        "const range = document.createRange(); range.selectNodeContents(document.querySelector('#payload pre'));"
        "getSelection().removeAllRanges(); getSelection().addRange(range);"
        "document.querySelector('#properties a').focus(); window.kept = document.activeElement")
    change(driver, action="cancel", id=address.rsplit("/", 1)[1])
    driver.wait("the button of the cancelled job", lambda: "Retry" in driver.text("#actions"))
    assert "finished" in driver.text("#properties")
    assert "video" in driver.run("return getSelection().toString()")
    assert driver.run("return document.activeElement === window.kept")
    driver.open(program.origin + "/jobs?queue=exports&state=waiting")
    address = link(driver, "waiting")
    driver.open(address)
    driver.run(
        "const fields = document.querySelector('.change').elements; fields.priority.value = 'low';"
        "fields.payload.value = '[7]'; fields.payload.focus()")
    shown = driver.run("return document.querySelector('.change').elements.shown.value")
    change(
        driver, action="change", id=address.rsplit("/", 1)[1], shown=shown, priority="high", queue="moved",
        payload=driver.run("return document.querySelector('.change').elements.payload.defaultValue"))
    driver.wait("the queue of the changed job", lambda: "moved" in driver.text("#properties"))
    assert driver.run(
        "const fields = document.querySelector('.change').elements;"
        "return [fields.priority.value, fields.queue.value, fields.payload.value, document.activeElement.name]"
    ) == ["low", "moved", "[7]", "payload"]
    press(driver, "Save")
    assert "The job is changed." in driver.text("main"), driver.text("main")
    driver.open(program.origin + "/queues")
    field = "[...document.querySelectorAll('.queue')].find(q => q.dataset.key === 'images').querySelector('[name=limit]')"
    driver.run(f"const field = {field}; field.focus(); field.value = '77'")
    change(driver, action="resume", queue="images")
    driver.wait("the queue is resumed", lambda: "paused" not in driver.run(f"return {field}.closest('.queue').textContent"))
    assert driver.run(f"return {field}.value === '77' && document.activeElement === {field}")
    said("new parts appear, and the selection, the focus and the input stay")


def check_loss(driver, program, store):
    """A page states that the store or the dashboard does not answer, and becomes live again."""
    driver.open(program.origin + "/")
    for name, begin, end in (
        ("store", lambda: os.rename(store, store + "-moved"), lambda: os.rename(store + "-moved", store)),
        ("dashboard", program.pause, program.resume),
    ):
        driver.wait("the page is live", lambda: is_live(driver))
        begin()
        driver.wait(f"the page states that the {name} is gone", lambda: not is_live(driver))
        text = driver.text("#warning")
        assert re.match(r"Not connected since \d.*, so this page is out of date\. .+", text), text
        height = driver.run("return document.querySelector('#warning').getBoundingClientRect().height")
        assert height > 20, height
        end()
        driver.wait(f"the page is live after the {name} returned", lambda: is_live(driver))
    said("a page states since when it is not connected, and becomes live again")


def check_tabs(driver, program):
    """More pages than a browser has connections are live."""
    first = driver.window()
    others = []
    for _ in range(8):
        others.append(driver.new_window())
        driver.switch(others[-1])
        driver.open(program.origin + "/jobs")
        driver.wait("the page is live", lambda: is_live(driver))
    for window in others:
        driver.switch(window)
        driver.command("DELETE", "/window")
    driver.switch(first)
    driver.wait("the first page is live", lambda: is_live(driver))
    said("nine pages are live")


def check_without_script(driver, program, pages):
    driver.command("POST", "/goog/cdp/execute", {
        "cmd": "Emulation.setScriptExecutionDisabled", "params": {"value": True}})
    for name, address in pages.items():
        driver.open(address)
    driver.open(program.origin + "/queues")
    for selector in (".queue form:not(.settings) button",):
        driver.click(selector)
    source = driver.command("GET", "/source")
    assert "The queue is" in source, source[:2000]
    driver.command("POST", "/goog/cdp/execute", {
        "cmd": "Emulation.setScriptExecutionDisabled", "params": {"value": False}})
    said("everything works without JavaScript")


def check_read_only(driver, program):
    driver.open(program.login)
    for name in ("", "queues", "jobs", "failures", "schedules"):
        driver.open(f"{program.origin}/{name}")
        assert driver.run("return document.querySelectorAll('form[method=post] button, .button').length") == 0, name
        assert driver.text("header .badge") == "read only"
    said("read only")


def main():
    program_path, *arguments = sys.argv[1:]
    pictures = pathlib.Path(arguments[1]) if arguments[:1] == ["--pictures"] else None
    if pictures:
        pictures.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        program = Program(program_path, folder + "/jobs.sqlite", "--scene")
        driver = Driver(folder + "/browser")
        reader = None
        try:
            pages = check_pages(driver, program, pictures)
            check_changes(driver, program, pages)
            check_live(driver, program)
            check_parts(driver, program)
            check_tabs(driver, program)
            check_loss(driver, program, folder + "/jobs.sqlite")
            check_without_script(driver, program, pages)
            reader = Program(program_path, folder + "/jobs.sqlite", "--read-only")
            check_read_only(driver, reader)
        finally:
            driver.quit()
            program.stop()
            if reader:
                reader.stop()
    said("done")


START = time.monotonic()
main()
