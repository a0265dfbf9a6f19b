"""Drives the lab's pages: `check_lab.py HEADWAY [--pictures]`.

What is compared with the clock: that sleeping takes its time (a serial run at least 5 seconds), that a concurrent run is
shorter than a serial one, that the main thread technique holds the main queue up for more than 4 seconds, and the others
for less than 0.1 seconds. The last may fail on a machine that has other work; so a thread here sleeps as briefly as the
main queue's heart does, and what it is late by is allowed to the main queue too, in one of several runs.
"""

import os
import pathlib
import re
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from webdriver import ENTER, LEFT, SPACE, TAB, Driver

TECHNIQUES = ["main", "background", "concurrent", "serial", "custom", "dispatch-concurrent", "dispatch-serial"]
SERIAL = {"main", "serial", "custom", "dispatch-serial"}
ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURES = ROOT / "Docs" / "pictures"
PAGES = ["techniques", "race", "sleepers", "board", "import", "lines", "requests", "drawing"]
WIDTHS = [(1280, 1000), (380, 800)]


class Lab:
    """A running lab, which can be restarted at the same port."""

    def __init__(self, tool, folder, port=0):
        # A killed lab leaves its files in a folder that is removed.
        environment = {**os.environ, "TMPDIR": folder}
        self.process = subprocess.Popen(
            [tool, "lab", "--port", str(port)], stdout=subprocess.PIPE, text=True, env=environment)
        self.address = re.search(r"http://\S+", self.process.stdout.readline()).group(0)
        self.port = int(self.address.rstrip("/").rsplit(":", 1)[1])

    def stop(self, number=signal.SIGINT):
        self.process.send_signal(number)
        return self.process.wait(timeout=30)


def said(text):
    print(f"{time.monotonic() - START:6.1f} s  {text}", flush=True)


def row(driver, technique):
    return driver.run(
        "return [...document.querySelector(`#choices [data-technique='${arguments[0]}']`).cells].map(c => c.textContent)",
        technique)


def number(text):
    """Milliseconds of a text such as “17 ms” or “4.99 s”."""
    value, unit = text.split()
    return float(value) * (1 if unit == "ms" else 1000)


def items(driver):
    """The items, ordered as in the log."""
    lines = driver.run("return [...document.querySelectorAll('#log div')].map(line => line.textContent)")
    return [tuple(map(int, found.groups())) for line in lines if (found := re.search(r" Added (\d+)-(\d+)$", line))]


def wait_running(driver, title):
    return driver.wait(f"{title} runs", lambda: row(driver, title)[2] == "runs")


def wait_ended(driver, title):
    return driver.wait(f"{title} ends", lambda: re.match(r"[\d.]+", row(driver, title)[2]) and row(driver, title))


class Sleeper:
    """A thread that sleeps a sixtieth of a second again and again: by how much a thread is late on this machine."""

    def __enter__(self):
        self.longest, self.is_ended = 0.0, False
        self.thread = threading.Thread(target=self.sleep)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_ended = True
        self.thread.join()

    def sleep(self):
        while not self.is_ended:
            start = time.monotonic()
            time.sleep(1 / 60)
            self.longest = max(self.longest, (time.monotonic() - start) * 1000)


class Crowd:
    """Viewers that receive everything, on a separate thread, and the events of each."""

    def __init__(self, port, count):
        self.selector = selectors.DefaultSelector()
        self.received = {}
        for _ in range(count):
            viewer = socket.create_connection(("127.0.0.1", port))
            viewer.sendall(f"GET /events HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
            self.selector.register(viewer, selectors.EVENT_READ)
            self.received[viewer] = b""
        self.is_ended = False
        self.thread = threading.Thread(target=self.receive)
        self.thread.start()

    def receive(self):
        while not self.is_ended:
            for key, _ in self.selector.select(timeout=0.1):
                self.received[key.fileobj] += key.fileobj.recv(1 << 16)

    def end(self):
        self.is_ended = True
        self.thread.join()
        for viewer in self.received:
            viewer.close()
        self.selector.close()


def run_technique(driver, technique):
    """Its time in seconds, the longest gap of the main queue and the longest that this machine makes, in milliseconds."""
    with Sleeper() as sleeper:
        before = first_line(driver)
        driver.click(f"[data-run='{technique}']")
        driver.wait(f"{technique} begins", lambda: first_line(driver) not in ("", before))
        cells = wait_ended(driver, technique)
    return float(cells[2].split()[0]), number(cells[3]), sleeper.longest


def keeps_main_queue_free(driver, technique, gap, machine):
    """Whether no gap is over 0.1 seconds, in this run or one of the next, apart from what the machine makes."""
    for _ in range(4):
        if gap < 100 + machine:
            return True
        said(f"{technique}: a gap of {gap:.0f} ms, of which the machine makes {machine:.0f} ms: once more")
        _, gap, machine = run_technique(driver, technique)
    return gap < 100 + machine


def check_techniques(driver):
    results = {}
    for technique in TECHNIQUES:
        results[technique] = run_technique(driver, technique)
        order = items(driver)
        whole = [(task, item) for task in range(1, 6) for item in range(1, 11)]
        assert sorted(order) == whole, (technique, order)
        if technique in SERIAL:
            assert order == whole, (technique, order)
        shown = driver.run(
            "return [...document.querySelectorAll('#sections [data-task] li')].map(item => item.textContent)")
        assert sorted(shown) == sorted(f"Item {task}-{item}" for task, item in whole), technique
        assert driver.run("return document.querySelectorAll('#timeline rect').length") >= 5, technique
    for technique, (seconds, gap, machine) in results.items():
        said(f"{technique}: {seconds:.2f} s, longest gap {gap:.0f} ms")
        if technique in SERIAL:
            assert seconds >= 5, technique
        else:
            assert seconds < min(results[serial][0] for serial in SERIAL), technique
        if technique == "main":
            assert gap > 4000, gap
        else:
            assert keeps_main_queue_free(driver, technique, gap, machine), technique
    compared = driver.run("return document.querySelectorAll('#comparison [data-compared]').length")
    assert compared == 7, compared


def show_techniques(driver):
    """For the picture: the gap that the main thread technique has left, and tasks that run."""
    driver.click("[data-run='main']")
    wait_running(driver, "main")
    wait_ended(driver, "main")
    begin(driver, "concurrent")
    driver.wait("items have come", lambda: len(items(driver)) >= 25)
    driver.run("scrollTo(0, 0)")


def tasks(driver):
    return driver.run("return [...document.querySelectorAll('#tasks .name')].map(name => name.textContent)")


def slide(driver, value):
    driver.run(
        "const s = document.querySelector('#maximum'); s.value = arguments[0]; s.dispatchEvent(new Event('input'))", value)
    wanted = "no limit" if value == 6 else str(value)
    driver.wait("the slider is shown", lambda: driver.text("#maximum-text") == wanted)


def first_line(driver):
    return driver.run("return document.querySelector('#log').firstChild?.textContent ?? ''")


def begin(driver, technique):
    before = first_line(driver)
    driver.click(f"[data-run='{technique}']")
    wait_running(driver, technique)
    driver.wait("it is shown", lambda: first_line(driver) != before)


def check_control(driver):
    # Cancelled, a technique ends, each task within its item.
    begin(driver, "custom")
    driver.click("#cancel")
    assert "cancelled" in wait_ended(driver, "custom")[2]
    assert len(items(driver)) < 50
    # One task.
    begin(driver, "custom")
    driver.click("#tasks [data-task='5'] [aria-label='Cancel task 5']")
    driver.wait("task 5 is cancelled", lambda: "cancelled" in tasks(driver)[4])
    wait_ended(driver, "custom")
    assert {task for task, _ in items(driver)} == {1, 2, 3, 4}
    # While suspended, nothing starts; the changes take effect after resuming.
    driver.click("#suspend")
    driver.wait("it is suspended", lambda: driver.text("#suspend") == "Resume")
    slide(driver, 1)
    driver.click("[data-run='concurrent']")
    wait_running(driver, "concurrent")
    driver.wait("tasks wait", lambda: all("waiting" in task for task in tasks(driver)) and len(tasks(driver)) == 5)
    driver.click("#tasks [data-task='5'] button")
    driver.wait("the priority is shown", lambda: "high priority" in tasks(driver)[4])
    # Dropped on a task, another comes before it.
    driver.drag("#tasks [data-task='4'] .name", "#tasks [data-task='5'] .name")
    driver.wait("the priority is shown", lambda: "very high priority" in tasks(driver)[3])
    driver.run(
        "const s = document.querySelector('#tasks [data-task=\"1\"] select'); s.value = '3';"
        "s.dispatchEvent(new Event('change'))")
    driver.wait("the dependency is drawn", lambda: driver.run(
        "return document.querySelectorAll('#graph .edge').length") == 1)
    driver.click("#tasks [data-task='1'] [aria-label='Explain task 1']")
    driver.wait("it is explained", lambda: "waits for" in (driver.text("#diagnosis") or ""))
    said(driver.text("#diagnosis"))
    assert items(driver) == []
    driver.click("#suspend")
    wait_ended(driver, "concurrent")
    order = list(dict.fromkeys(task for task, _ in items(driver)))
    assert order[:2] == [4, 5] and order.index(3) < order.index(1), order
    # By ones, tasks do not overlap; without a limit they do.
    assert [task for task, _ in items(driver)] == [task for task in order for _ in range(10)], items(driver)
    begin(driver, "concurrent")
    driver.wait("one task runs", lambda: any("executing" in task for task in tasks(driver)))
    slide(driver, 6)
    wait_ended(driver, "concurrent")
    sequence = [task for task, _ in items(driver)]
    assert sequence != sorted(sequence), sequence


def check_second_window(driver, address):
    first = driver.window()
    second = driver.new_window()
    driver.switch(second)
    driver.open(address)
    driver.wait("the second window sees all", lambda: all(
        re.match(r"[\d.]+", row(driver, technique)[2]) for technique in TECHNIQUES))
    other = [row(driver, technique) for technique in TECHNIQUES]
    driver.switch(first)
    assert [row(driver, technique) for technique in TECHNIQUES] == other
    driver.click("[data-run='background']")
    driver.switch(second)
    wait_running(driver, "background")
    wait_ended(driver, "background")
    driver.command("DELETE", "/window")
    driver.switch(first)


def check_crowd(driver, lab, count=100):
    """Many viewers see a run to its end. The additional time is printed, but not checked."""
    alone = {technique: run_technique(driver, technique)[0] for technique in ("serial", "concurrent")}
    crowd = Crowd(lab.port, count)
    for technique in alone:
        before = {viewer: len(received) for viewer, received in crowd.received.items()}
        seconds = run_technique(driver, technique)[0]
        driver.wait("all have seen it", lambda: all(
            b'"finished"' in received[before[viewer]:] for viewer, received in crowd.received.items()))
        said(f"{technique} with {count} viewers: {seconds:.3f} s, {(seconds / alone[technique] - 1) * 100:+.1f}%")
    crowd.end()


def show(driver, page):
    driver.click(f"nav a[href='#{page}']")
    driver.wait(f"{page} is shown", lambda: driver.run("return !document.getElementById(arguments[0]).hidden", page))


def check_workshops(driver, picture):
    show(driver, "import")
    driver.click("#import-start")
    driver.wait("the import ends", lambda: "All tables are in" in (driver.text("#import-message") or ""))
    said(driver.text("#import-message"))
    assert driver.run("return document.querySelectorAll('#import .scroll tbody tr').length") == 8
    picture("import")
    driver.run("document.querySelector('#import-size').value = '1000000'")
    driver.click("#import-start")
    driver.wait("the import begins", lambda: "Generating" in driver.text("#import-message"))
    driver.click("#import-cancel")
    driver.wait("the import is cancelled", lambda: "Cancelled" in driver.text("#import-message"))

    show(driver, "lines")
    driver.click("#lines-start")
    driver.wait("the search ends", lambda: "The end of the file" in (driver.text("#lines-message") or ""))
    said(driver.text("#lines-message"))
    assert "100 of" in driver.text("#lines-message")
    assert driver.text("#lines-matches").count("bad sector") == 8
    driver.run("document.querySelector('#lines-size').value = '1000'")
    driver.click("#lines-start")
    driver.wait("the large search ends", lambda: re.search(
        r"The end of the file.* 1,?0\d\d\.\d MB in", driver.text("#lines-message") or ""), seconds=600)
    said(driver.text("#lines-message"))
    memory = driver.run("return document.querySelector('#lines svg').getAttribute('aria-label')")
    said(memory)
    first, last = map(float, re.findall(r"([\d.]+) MB", memory))
    assert last < first + 50, memory
    picture("lines")

    show(driver, "requests")
    download = "#requests [data-download='{}'] "
    state = lambda index: driver.text(download.format(index) + "td:nth-child(3)") or ""
    asked = lambda index: driver.text(download.format(index) + "td:nth-child(4)") or ""
    for index in range(3):
        driver.click(download.format(index) + "[data-action='start']")
    driver.wait("something has come", lambda: re.search(r"running, [1-9]|running, 0\.[1-9]", state(2)))
    driver.click(download.format(2) + "[data-action='cancel']")
    driver.wait("it is cancelled", lambda: "cancelled" in state(2))
    driver.click(download.format(2) + "[data-action='start']")
    for index in range(3):
        driver.wait("a download ends", lambda: "finished" in state(index))
    assert asked(0) == "from 0.0 MB", asked(0)
    # Tried again after the break, and gone on after the cancellation: from where it was.
    for index in (1, 2):
        assert re.fullmatch(r"from 0\.0 MB, from (?!0\.0)\d\.\d MB", asked(index)), asked(index)
    said(f"requests: {asked(1)}; {asked(2)}")
    picture("requests")

    show(driver, "drawing")
    loaded = ("const images = [...document.querySelectorAll('#cells img')];"
              "return images.length > 0 && images.every(image => image.complete && image.naturalWidth === 112)")
    driver.wait("the cells are drawn", lambda: driver.run(loaded))
    driver.click("#fling")
    driver.wait("it has scrolled", lambda: driver.run("return document.querySelector('#cells').scrollTop") >= 40 * 9 * 64)
    driver.wait("the cells are drawn", lambda: driver.run(loaded))
    names = driver.run("return [...document.querySelectorAll('#cells .cell')].map("
                       "cell => [cell.textContent, cell.querySelector('img').alt, cell.querySelector('img').src])")
    for text, alt, source in names:
        cell, shown = map(int, re.fullmatch(r"Cell (\d+): picture (\d+)", text).groups())
        content = int(source.rsplit("/", 1)[1])
        assert shown == content + 1 == (cell - 1) % 400 + 1 and alt == f"Picture {shown}", (text, alt, source)
    picture("drawing")
    driver.run("document.querySelector('#cells').scrollTop += 400 * 64")
    driver.wait("equal cells are from the cache", lambda: not driver.text("#drawing-counts").endswith(" 0 from the cache"))
    said(driver.text("#drawing-counts"))


def visible_part(driver, selector):
    """How much of an element's text can be seen in the window's width, from 0 to 1; the least of all that there are."""
    return driver.run("""
      const shares = [...document.querySelectorAll(arguments[0])].map((element) => {
        const range = document.createRange();
        range.selectNodeContents(element);
        const text = range.getBoundingClientRect();
        let [left, right] = [Math.max(0, text.left), Math.min(document.documentElement.clientWidth, text.right)];
        for (let one = element; one; one = one.parentElement) {
          if (getComputedStyle(one).overflowX === "visible") continue;
          const box = one.getBoundingClientRect();
          [left, right] = [Math.max(left, box.left), Math.min(right, box.right)];
        }
        return text.width === 0 ? 0 : Math.max(0, right - left) / text.width;
      });
      return shares.length ? Math.min(...shares) : 0;
    """, selector)


def check_touch(driver):
    """A touch is answered immediately; while the main thread technique runs it is not, and the button stays as it is."""
    driver.click("#touch")
    driver.wait("it is answered", lambda: re.fullmatch(r"Answered after [\d.]+ m?s", driver.text("#answer") or ""))
    # A busy machine needs longer, but not as long as the technique that blocks the main thread.
    assert number(driver.text("#answer")[len("Answered after "):]) < 4500, driver.text("#answer")
    driver.click("[data-run='main']")
    wait_running(driver, "main")
    for _ in range(3):
        driver.click("#touch")
    driver.wait("it freezes", lambda: re.match(r"No answer for [1-9]", driver.text("#touch") or ""))
    assert driver.run("return document.querySelector('#touch').getAttribute('aria-busy')") == "true"
    # Nothing else is held up: the lab answers, and the touches keep no connection.
    focus(driver, "#touch")
    driver.press(SPACE)
    wait_ended(driver, "main")
    # Usually as one, but a slow machine may send two events.
    driver.wait("all are answered", lambda: re.fullmatch(
        r"(Answered|\d touches answered) after \d\.\d\d s", driver.text("#answer") or ""))
    driver.wait("it is as before", lambda: driver.text("#touch") == "Touch me")
    said(f"touch: {driver.text('#answer')}")


def check_race(driver):
    show(driver, "race")
    times = lambda: {name: (done, shown) for name, done, shown in driver.run(
        "return [...document.querySelectorAll('#race-table tbody tr')]"
        ".map(r => [r.dataset.racer, r.cells[1].textContent, r.cells[2].textContent])")}
    driver.click("#race-start")
    driver.wait("some have done their work", lambda: " of 7 have done" in (driver.text("#race-message") or ""))
    yield "race"
    driver.wait("all have arrived", lambda: "All have arrived" in (driver.text("#race-message") or ""))
    result = {name: tuple(float(text.split()[0]) for text in pair) for name, pair in times().items()}
    assert set(result) == set(TECHNIQUES), result
    for technique, (done, shown) in result.items():
        # Each does its work, and none is shown before the main thread technique has released the main queue.
        assert shown >= done and shown >= result["main"][0] - 0.1, result
        assert done >= (5 if technique in SERIAL else 0.1), result
    assert min(result, key=lambda name: result[name][0]) not in SERIAL, result
    said(f"race: {driver.text('#race-message')} {result}")
    assert visible_part(driver, "#race-table td") == 1
    driver.click("#race-main")
    driver.click("#race-start")
    driver.wait("a race without it", lambda: "All have arrived" in (driver.text("#race-message") or "") and len(times()) == 6
                and "–" not in str(times()))
    for name, (done, shown) in times().items():
        assert float(shown.split()[0]) >= float(done.split()[0]), (name, done, shown)
    driver.click("#race-main")


def check_sleepers(driver):
    show(driver, "sleepers")
    side = lambda name: driver.text(f"#sleepers-{name}-text") or ""
    run = lambda: int(driver.run("return document.querySelector('#sleepers-message').dataset.run"))
    before = run()
    driver.click("#sleepers-start")
    # The result of an earlier run is shown until the server has answered.
    driver.wait("they have begun", lambda: run() > before)
    driver.wait("Headway has finished", lambda: side("headway").startswith("200 have finished"))
    yield "sleepers"
    driver.wait("both have finished", lambda: "times as long" in (driver.text("#sleepers-message") or ""))
    said(driver.text("#sleepers-message"))
    for name in ("headway", "dispatch"):
        assert side(name).startswith("200 have finished, 0 asleep"), side(name)
    most = lambda name: int(re.search(r"at most (\d+)", side(name)).group(1))
    assert most("headway") > most("dispatch"), (side("headway"), side("dispatch"))
    assert driver.run("return document.querySelectorAll('#sleepers-headway .finished').length") == 200


def edges(driver):
    return driver.run("return [...document.querySelectorAll('#board-edges [data-edge]')].map(e => e.dataset.edge)")


def check_board(driver):
    show(driver, "board")
    box = lambda number: f".boxes [data-box='{number}']"
    driver.run("document.querySelector('#board-clear').click()")
    driver.wait("nothing is connected", lambda: edges(driver) == [])
    driver.run("document.querySelector('#board-area').scrollIntoView({block: 'center'})")
    for first, second in [(1, 2), (2, 3), (1, 4)]:
        driver.drag(box(first), box(second))
        driver.wait("it is connected", lambda: f"{first}-{second}" in edges(driver))
    # By keys.
    for first, second in [(3, 6), (4, 5)]:
        focus(driver, box(first))
        driver.press(ENTER)
        focus(driver, box(second))
        driver.press(ENTER)
        driver.wait("it is connected", lambda: f"{first}-{second}" in edges(driver))
    driver.drag(box(3), box(1))
    driver.wait("a cycle is rejected", lambda: "because it is a cycle" in (driver.text("#board-message") or ""))
    said(driver.text("#board-message"))
    assert edges(driver) == ["1-2", "2-3", "1-4", "3-6", "4-5"], edges(driver)
    assert driver.run("return document.querySelectorAll('.board .edge.refused').length") == 3
    assert driver.run("return document.querySelectorAll('.board .edge:not(.refused)').length") == 5
    yield "board"
    states = lambda: driver.run("return [...document.querySelectorAll('.boxes small')].map(s => s.textContent)")
    driver.click("#board-run")
    driver.wait("one runs and all other boxes wait", lambda: states()[0] == "executing" and states()[2] == "waiting")
    driver.wait("all have finished", lambda: "All have finished" in (driver.text("#board-message") or ""))
    assert set(states()) == {"finished"}, states()
    driver.click("#board-edges [data-edge='1-4'] button")
    driver.wait("it is removed", lambda: "1-4" not in edges(driver))


def check_headings(driver, address):
    """Each page begins with its heading, below the bar, no matter how far the previous page was scrolled."""
    def wait_clear(page):
        place = "return document.querySelector(arguments[0])?.getBoundingClientRect()[arguments[1]] ?? -1"
        driver.wait(f"the heading of {page} at {driver.run('return innerWidth')} pixels is below the bar", lambda: (
            driver.run(place, f"#{page} h2", "top") >= driver.run(place, "#heartbeat", "bottom")), seconds=20)

    for width, height in [*WIDTHS, (1400, 900), (800, 360), (380, 600)]:
        driver.resize(width, height)
        for page in PAGES:
            driver.open("about:blank")
            driver.open(f"{address}#{page}")
            wait_clear(page)
        # The second click is on the tab of the current page.
        for page in [page for page in PAGES for _ in range(2)]:
            driver.run("scrollTo(0, document.documentElement.scrollHeight)")
            driver.run("document.querySelector(`nav a[href='#${arguments[0]}']`).click()", page)
            driver.wait(f"{page} is shown", lambda: not driver.run(
                "return document.querySelector(`#${arguments[0]}`).hidden", page))
            wait_clear(page)
    driver.resize(1200, 1080)
    driver.wait("the page is connected", lambda: driver.text("#connection") == "Connected")
    show(driver, "techniques")


def check_play(driver, picture):
    """The new controls, at the width of a desk and of a phone."""
    for width, height in WIDTHS:
        driver.resize(width, height)
        show(driver, "techniques")
        check_touch(driver)
        # The main content of the page is visible at each width.
        for selector in ("#choices td.number", "#choices th.number", "#comparison td.number", "#log .what"):
            assert visible_part(driver, selector) > 0.99, (width, selector, visible_part(driver, selector))
        assert all(re.search(r"Added \d+-\d+$", line) for line in driver.run(
            "return [...document.querySelectorAll('#log .what')].map(what => what.textContent)"))
        for check in (check_race, check_sleepers, check_board):
            for name in check(driver):
                picture(name if width > 1000 else f"{name}-phone")
                overflow = driver.run(
                    "return document.documentElement.scrollWidth - document.documentElement.clientWidth")
                assert overflow <= 0, (name, width, overflow)
    driver.resize(1200, 1080)
    show(driver, "techniques")


def check_restart(driver, tool, folder, lab):
    show(driver, "techniques")
    assert lab.stop(signal.SIGKILL) != 0
    driver.wait("its absence is noticed", lambda: "does not answer" in driver.text("#connection"))
    lab = Lab(tool, folder, lab.port)
    driver.wait("it is found again", lambda: driver.text("#connection") == "Connected")
    driver.wait("what was is forgotten", lambda: all(row(driver, technique)[2] == "–" for technique in TECHNIQUES))
    driver.click("[data-run='background']")
    wait_running(driver, "background")
    wait_ended(driver, "background")
    return lab


def check_end(driver, lab):
    """Ctrl-C in the middle of the technique that nothing else can interrupt."""
    driver.click("[data-run='main']")
    wait_running(driver, "main")
    start = time.monotonic()
    assert lab.stop() == 130
    took = time.monotonic() - start
    said(f"Ctrl-C took {took:.2f} s")
    # Less than the remaining time of the technique, even on a slow machine.
    assert took < 4, took


def check_width(driver):
    driver.resize(390, 844)
    for page in PAGES:
        show(driver, page)
        overflow = driver.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert overflow <= 0, (page, overflow)
    driver.resize(1200, 1080)
    show(driver, "techniques")


def contrasts(driver):
    """The contrasts below 4.5 between visible text and its background."""
    return driver.run("""
      const parse = (color) => color.match(/[\\d.]+/g).map(Number);
      const light = ([r, g, b]) => [r, g, b]
        .map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
        .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
      const behind = (element) => {
        for (; element; element = element.parentElement) {
          const color = parse(getComputedStyle(element).backgroundColor);
          if (color.length < 4 || color[3] > 0) return color;
        }
        return [255, 255, 255];
      };
      const low = [];
      for (const element of document.querySelectorAll("body *")) {
        const isText = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
        if (!isText || element.closest("svg") || !element.checkVisibility() || element.disabled) continue;
        const [one, other] = [light(parse(getComputedStyle(element).color)), light(behind(element))];
        const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
        if (contrast < 4.5) low.push(`${element.textContent.slice(0, 30)} ${contrast.toFixed(2)}`);
      }
      return low;
    """)


def describe_focus(driver):
    """The element that has the focus, as a path that distinguishes it from all others."""
    return driver.run("""
      const path = [];
      for (let one = document.activeElement; one && one !== document.body; one = one.parentElement)
        path.unshift(`${one.localName}${[...one.parentElement.children].indexOf(one)}`);
      return path.join(" ");
    """)


def reachable(driver):
    """The elements of the visible page that a pointer can use, so a keyboard must reach them."""
    return driver.run("""
      const path = (element) => {
        const parts = [];
        for (let one = element; one !== document.body; one = one.parentElement)
          parts.unshift(`${one.localName}${[...one.parentElement.children].indexOf(one)}`);
        return parts.join(" ");
      };
      return [...document.querySelectorAll("a, button, input, select, [tabindex='0']")]
        .filter((element) => element.checkVisibility() && !element.disabled).map(path);
    """)


def focus(driver, selector):
    driver.run("document.querySelector(arguments[0]).focus()", selector)


def check_keyboard(driver):
    for page in PAGES:
        show(driver, page)
        focus(driver, "nav a")
        wanted = set(reachable(driver))
        reached = {describe_focus(driver)}
        for _ in range(2 * len(wanted)):
            driver.press(TAB)
            place = describe_focus(driver)
            if not place:
                break
            reached.add(place)
            outline = driver.run("return getComputedStyle(document.activeElement).outlineStyle")
            assert outline != "none", (page, place)
        assert wanted <= reached, (page, wanted - reached)
    # Used by keys alone: a technique is run, held back, limited, explained and cancelled.
    focus(driver, "nav a")
    driver.press(ENTER)
    driver.wait("the page is shown", lambda: not driver.run("return document.querySelector('#techniques').hidden"))
    focus(driver, "#suspend")
    driver.press(SPACE)
    driver.wait("it is suspended", lambda: driver.text("#suspend") == "Resume")
    focus(driver, "#maximum")
    driver.press(LEFT)
    driver.wait("the limit is shown", lambda: driver.text("#maximum-text") == "5")
    focus(driver, "[data-run='concurrent']")
    driver.press(ENTER)
    wait_running(driver, "concurrent")
    driver.wait("tasks wait", lambda: all("waiting" in task for task in tasks(driver)))
    focus(driver, "#graph g[role='button']")
    driver.press(ENTER)
    driver.wait("it is explained", lambda: "suspended" in (driver.text("#diagnosis") or ""))
    focus(driver, "#cancel")
    driver.press(ENTER)
    assert "cancelled" in wait_ended(driver, "concurrent")[2]
    focus(driver, "#suspend")
    driver.press(SPACE)
    driver.wait("it continues", lambda: driver.text("#suspend") == "Suspend")
    slide(driver, 6)


def check_access(driver):
    """Distinguishable colours, names for elements without text, and no motion if the user disables it."""
    for scheme in ("light", "dark"):
        driver.emulate({"prefers-color-scheme": scheme})
        for page in PAGES:
            show(driver, page)
            # In the middle of a transition a button has the colours of neither state.
            driver.wait(f"enough contrast ({page}, {scheme})", lambda: not contrasts(driver))
    unnamed = driver.run("""
      return [...document.querySelectorAll("button, input, select, progress, svg[role], canvas, img, [role='region']")]
        .filter((element) => !element.textContent.trim() && !element.labels?.length && !element.getAttribute("aria-label")
          && !element.getAttribute("alt") && !element.getAttribute("aria-labelledby"))
        .map((element) => element.id || element.className || element.localName)
    """)
    assert not unnamed, unnamed
    driver.emulate({"prefers-color-scheme": "light", "prefers-reduced-motion": "reduce"})
    moving = driver.run("""
      return [...document.querySelectorAll("*")]
        .filter((element) => getComputedStyle(element).transitionDuration.split(", ").some((time) => time !== "0s")
          || getComputedStyle(element).animationName !== "none")
        .map((element) => element.id || element.localName)
    """)
    assert not moving, moving
    # The strip moves by seconds, not by frames: each change begins with an empty strip.
    changes = driver.command("POST", "/execute/async", {"script": """
      const [done, clear] = [arguments[0], CanvasRenderingContext2D.prototype.clearRect];
      let count = 0;
      CanvasRenderingContext2D.prototype.clearRect = function (...bounds) {
        count += 1;
        clear.apply(this, bounds);
      };
      const start = performance.now();
      setTimeout(() => {
        CanvasRenderingContext2D.prototype.clearRect = clear;
        done([count, (performance.now() - start) / 1000]);
      }, 3000);
    """, "args": []})
    assert changes[0] <= changes[1] + 1, changes
    driver.emulate({"prefers-color-scheme": "light"})


def check_trace(driver, address):
    """The link opens the page of the last run, whose script works although it has no access to the lab."""
    lab = driver.window()
    other = driver.new_window()
    driver.switch(other)
    driver.open(f"{address}trace.html")
    # The last run can be a single download.
    driver.wait("the trace is shown", lambda: re.search(r"\d operations? in", driver.text("#summary") or ""))
    assert driver.text("#range"), "the timeline is not drawn"
    assert driver.run("return origin") == "null"
    driver.command("DELETE", "/window")
    driver.switch(lab)
    assert driver.run("return document.querySelector('#trace').href") == f"{address}trace.html"


def main(tool, with_pictures):
    with tempfile.TemporaryDirectory() as folder:
        lab = Lab(tool, folder)
        driver = Driver(os.path.join(folder, "browser"))

        def picture(name):
            if with_pictures:
                PICTURES.mkdir(exist_ok=True)
                driver.picture(PICTURES / f"lab-{name}.png")

        try:
            driver.open(lab.address)
            driver.wait("the page is connected", lambda: driver.text("#connection") == "Connected")
            check_techniques(driver)
            if with_pictures:
                show_techniques(driver)
                picture("techniques")
                wait_ended(driver, "concurrent")
                driver.emulate({"prefers-color-scheme": "dark"})
                driver.run("document.querySelector('#comparison').scrollIntoView()")
                picture("comparison")
                driver.run("scrollTo(0, 0)")
            check_control(driver)
            check_second_window(driver, lab.address)
            check_crowd(driver, lab)
            check_play(driver, picture)
            check_workshops(driver, picture)
            check_trace(driver, lab.address)
            check_width(driver)
            check_access(driver)
            check_keyboard(driver)
            check_headings(driver, lab.address)
            # A browser reports each rejected request as an error; a cycle is rejected.
            errors = [error for error in driver.errors() if not re.search(r"api/board/connect .*409", error)]
            assert not errors, errors
            lab = check_restart(driver, tool, folder, lab)
            check_end(driver, lab)
        finally:
            driver.quit()
            if lab.process.poll() is None:
                lab.stop(signal.SIGKILL)
    print("The lab does what it should.")


if __name__ == "__main__":
    START = time.monotonic()
    main(sys.argv[1], "--pictures" in sys.argv[2:])
