"""Drives the page of a trace: `check_trace.py HEADWAY`.

The pages are those that `headway import --trace` writes: of 10 operations, and of 10,000.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import time

from webdriver import TAB, Driver

LEFT, RIGHT, UP, DOWN = "\ue012", "\ue014", "\ue013", "\ue015"
# Besides one operation per batch, here of one row: the import, its preparation, and its end.
OTHERS = 3


def make_page(tool, folder, count):
    """The page of a trace with this many operations."""
    rows = "".join(f"{number},name {number}\n" for number in range(count - OTHERS))
    (folder / "people.csv").write_text("id,name\n" + rows)
    subprocess.run(
        [tool, "import", "people.csv", f"{count}.sqlite", "--key", "id", "--batch-size", "1", "--quiet",
         "--trace", f"{count}.html"], cwd=folder, check=True)
    return folder / f"{count}.html"


def visible(driver):
    """The visible period, in nanoseconds."""
    start, end, unit = re.fullmatch(r"([\d.]+) – ([\d.]+) (ns|µs|ms|s)", driver.text("#range")).groups()
    size = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[unit]
    return float(start) * size, float(end) * size


def length(period):
    return period[1] - period[0]


def changes(driver, what, action, condition):
    """Acts and waits for a condition, which receives the visible periods before and after the action."""
    before = visible(driver)
    action()
    driver.wait(what, lambda: condition(before, visible(driver)))


def is_shorter(before, after):
    return length(after) < length(before) * 0.9


def is_longer(before, after):
    return length(after) > length(before) * 1.1


def is_moved(before, after, sign):
    moved = (after[0] - before[0]) * sign > length(before) * 0.02
    return moved and abs(length(after) / length(before) - 1) < 0.05


def is_whole(driver, whole):
    return lambda _, after: abs(length(after) / length(whole) - 1) < 0.01


def find_bar(driver):
    """A place in the canvas, relative to its center, where the details of an operation are shown."""
    height = driver.run("return document.querySelector('#timeline').clientHeight")
    for x in (0, -150, 150, -300, 300):
        for y in range(-height // 2 + 28, height // 2, 4):
            driver.point("#timeline", (x, y))
            # The details of a span are shorter.
            shown = driver.run("return document.querySelector('#tip').hidden ? '' : document.querySelector('#tip').innerText")
            if "Started at" in shown:
                return x, y
    raise AssertionError("no bar has details")


def check_moves(driver):
    """Zooms and moves with the wheel, the mouse, keys and buttons."""
    whole = visible(driver)
    assert whole[0] == 0, whole
    changes(driver, "the wheel zooms in", lambda: driver.wheel("#timeline", 0, -700), is_shorter)
    changes(driver, "the wheel zooms out", lambda: driver.wheel("#timeline", 0, 200), is_longer)
    changes(driver, "the wheel moves", lambda: driver.wheel("#timeline", 120, 0), lambda a, b: is_moved(a, b, 1))
    changes(
        driver, "dragging moves", lambda: driver.point("#timeline", (0, 0), (60, 0), (120, 0), pressed=True),
        lambda a, b: is_moved(a, b, -1))
    driver.run("document.querySelector('#timeline').focus()")
    changes(driver, "+ zooms in", lambda: driver.press("+"), is_shorter)
    changes(driver, "→ moves", lambda: driver.press(RIGHT), lambda a, b: is_moved(a, b, 1))
    changes(driver, "← moves", lambda: driver.press(LEFT), lambda a, b: is_moved(a, b, -1))
    changes(driver, "− zooms out", lambda: driver.press("-"), is_longer)
    driver.press(DOWN, UP)
    changes(driver, "0 shows all", lambda: driver.press("0"), is_whole(driver, whole))
    changes(driver, "a button zooms in", lambda: driver.click("#zoom-in"), is_shorter)
    changes(driver, "a button zooms out", lambda: driver.click("#zoom-out"), is_longer)
    changes(driver, "a button zooms in", lambda: driver.click("#zoom-in"), is_shorter)
    changes(driver, "a button shows all", lambda: driver.click("#zoom-all"), is_whole(driver, whole))
    # The page neither zooms in to less than 20 ns, nor moves beyond the recording.
    for _ in range(30):
        driver.wheel("#timeline", 0, -1500)
    changes(driver, "it zooms in no further", lambda: None, lambda _, after: 0 < length(after) <= 1000)
    driver.run("document.querySelector('#timeline').focus()")
    changes(driver, "it moves no further", lambda: driver.press(*([LEFT] * 5)), lambda _, after: after[0] >= 0)
    changes(driver, "0 shows all", lambda: driver.press("0"), is_whole(driver, whole))


def check_touch(driver):
    """Zooms with two fingers, and moves and scrolls with one, as on a phone."""
    driver.resize(380, 600)
    whole = visible(driver)
    # Two fingers that move apart, and then toward each other.
    apart = [(-20, 0), (-50, 0), (-80, 0)], [(20, 0), (50, 0), (80, 0)]
    changes(driver, "two fingers zoom in", lambda: driver.touch("#timeline", *apart), is_shorter)
    changes(driver, "a finger moves", lambda: driver.touch("#timeline", [(0, 0), (-40, 0), (-80, 0)]),
            lambda a, b: is_moved(a, b, 1))
    together = [places[::-1] for places in apart]
    changes(driver, "two fingers zoom out", lambda: driver.touch("#timeline", *together), is_longer)
    driver.click("#zoom-all")
    driver.wait("the whole is shown", lambda: is_whole(driver, whole)(None, visible(driver)))
    # A finger scrolls the page, too, because the timeline covers most of it.
    top = driver.run("scrollTo(0, 0); return scrollY")
    end = driver.run("return document.documentElement.scrollHeight - innerHeight")
    assert end > 0, end
    for _ in range(20):
        driver.touch("#timeline", [(0, 0), (0, -20), (0, -40)])
        if driver.run("return scrollY") > top:
            break
    assert driver.run("return scrollY") > top, (top, end)
    driver.run("scrollTo(0, 0)")
    driver.resize(1200, 900)


def check_details(driver):
    x, y = find_bar(driver)
    tip = driver.text("#tip")
    assert "people" in tip and re.search(r"ran for [\d.]+ (ns|µs|ms|s)", tip), tip
    driver.point("#timeline", (x, y), pressed=True)
    driver.wait("the selection is described", lambda: "people" in (driver.text("#selection") or ""))
    # Move the mouse out of the canvas.
    driver.point("h1", (0, 0))
    driver.wait("the details are hidden", lambda: driver.run("return document.querySelector('#tip').hidden"))


def check_search(driver, count):
    driver.run("document.querySelector('#search').focus()")
    driver.press(*"WRITE")
    writes = count - OTHERS
    first = ", the first 200 are in the table" if writes > 200 else ""
    driver.wait("the search finds", lambda: driver.text("#found") == f"{writes} found{first}")
    shown = driver.run("return document.querySelectorAll('#rows tr').length")
    assert shown == min(writes, 200), shown
    # With keys, from the search to the first operation of the table, which is then shown.
    whole = visible(driver)
    driver.run("document.querySelector('#rows button').focus()")
    changes(driver, "the operation is shown", lambda: driver.press("\ue007"), is_shorter)
    assert "write people" in driver.text("#selection")
    driver.run("document.querySelector('#search').value = 'nothing has this name'")
    driver.run("document.querySelector('#search').dispatchEvent(new Event('input'))")
    assert driver.text("#found") == "0 found"
    assert driver.run("return document.querySelector('#table').hidden")
    driver.run("document.querySelector('#search').value = ''")
    driver.run("document.querySelector('#search').dispatchEvent(new Event('input'))")
    changes(driver, "all is shown", lambda: driver.click("#zoom-all"), is_whole(driver, whole))


def check_schemes(driver):
    """The canvas and the page have dark colors if the reader prefers them."""
    colors = {}
    for scheme in ("light", "dark"):
        driver.emulate({"prefers-color-scheme": scheme})
        light = driver.wait(f"{scheme} is drawn", lambda: brightness(driver, scheme))
        colors[scheme] = light
    driver.emulate({"prefers-color-scheme": "light"})
    return colors


def brightness(driver, scheme):
    """Whether the backgrounds of the canvas and of the page, and the text, have the brightness of a scheme."""
    canvas, page, text = driver.run("""
      const canvas = document.querySelector("#timeline");
      const [red, green, blue] = canvas.getContext("2d").getImageData(2, 2, 1, 1).data;
      const sum = (color) => color.match(/[0-9]+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0);
      const style = getComputedStyle(document.body);
      return [red + green + blue, sum(style.backgroundColor), sum(style.color)];
    """)
    if scheme == "light":
        return canvas > 600 and page > 600 and text < 200
    return canvas < 150 and page < 150 and text > 600


def check(driver, page, count):
    driver.open(page.as_uri())
    assert driver.text("#summary").startswith(f"{count} operations in "), driver.text("#summary")
    driver.wait("it is drawn", lambda: driver.text("#range"))
    assert "people" in driver.text("#path-text")
    assert driver.run("return document.querySelectorAll('#legend li').length") >= 2
    check_moves(driver)
    check_details(driver)
    check_search(driver, count)
    check_touch(driver)
    driver.click("#show-path")
    check_schemes(driver)
    for width in (1200, 380):
        driver.resize(width, 800)
        wide = driver.run("return document.documentElement.scrollWidth")
        assert wide <= width, f"{wide} pixels wide on a screen of {width}"
    driver.resize(1200, 900)
    # Keys reach the search, the buttons and the timeline.
    driver.run("document.activeElement.blur()")
    reached = set()
    for _ in range(8):
        driver.press(TAB)
        reached.add(driver.run("return document.activeElement.id"))
    assert {"search", "show-path", "zoom-in", "zoom-out", "zoom-all", "timeline"} <= reached, reached
    requests = driver.run("return performance.getEntriesByType('resource').map((one) => one.name)")
    assert not requests, requests
    errors = driver.errors()
    assert not errors, errors


def main(tool):
    tool = pathlib.Path(tool).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        pages = {count: make_page(tool, folder, count) for count in (10, 10_000)}
        driver = Driver(str(folder / "browser"))
        try:
            for count, page in pages.items():
                start = time.monotonic()
                check(driver, page, count)
                print(f"{time.monotonic() - start:6.1f} s  a page of {count:,} operations")
        finally:
            driver.quit()


if __name__ == "__main__":
    main(sys.argv[1])
