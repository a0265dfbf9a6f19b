"""The page of a job: its attempts, its errors, its neighbors, and its times."""

from .tools import found, texts


def check(driver, program, said):
    driver.open(found(driver, program, "label=Slow+server", "Slow server"))
    attempts = texts(driver, ".timeline .attempt")
    assert len(attempts) == 2, attempts
    for number, text in zip((2, 1), attempts):
        for part in (f"Attempt {number}", "took", "worker", f"timed out in attempt {number}.",
                     f"Trying the server in attempt {number}."):
            assert part in text, (part, text)
    marks = texts(driver, ".errors mark")
    assert marks == ["2."], marks
    edges = driver.run(
        "return [...document.querySelectorAll('.error')].map((error) => error.getBoundingClientRect().left)")
    assert len(set(edges)) == 2, edges
    said("the attempts of a job have times, errors and log lines, and the errors are side by side")
    driver.open(found(driver, program, "label=Publish+to", "Publish to the website"))
    assert "The chain begins with" in driver.text("#cause"), driver.text("main")
    driver.click(".neighbors a")
    driver.wait("the page of the neighbor", lambda: "Merge the feeds" in (driver.text("main .bar") or ""))
    assert "Publish to the archive" in driver.text("#graph")
    said("the graph can be walked")
    chooses_time_zone(driver, said)


def chooses_time_zone(driver, said):
    """The page shows all times in the chosen zone."""
    shown = "return document.querySelector('#properties time').textContent"
    utc = driver.run(shown)
    driver.run("document.cookie = 'jobs-time-zone=Asia%2FTokyo; Path=/; SameSite=Strict'; location.reload()")
    driver.wait("the times of Tokyo", lambda: driver.run("return document.body?.dataset.zone") == "Asia/Tokyo")
    hours = (int(driver.run(shown)[11:13]) - int(utc[11:13])) % 24
    assert hours == 9, (utc, driver.run(shown))
    names = driver.run("return [...document.querySelector('#zone select').options].map((option) => option.value)")
    assert names[:2] == ["UTC", "Asia/Tokyo"], names
    driver.run(
        "const menu = document.querySelector('#zone select'); menu.value = 'UTC';"
        "menu.dispatchEvent(new Event('change', { bubbles: true }))")
    driver.wait("UTC", lambda: driver.run("return document.body?.dataset.zone") == "UTC" and driver.run(shown) == utc)
    said("times are shown in the chosen time zone")
