"""The list of jobs: selection, filters, and files."""

import json

from .tools import press


def get(driver, address):
    """The text of a response, as a script of the page receives it."""
    return driver.run("return fetch(arguments[0]).then((response) => response.text())", address)


def check(driver, program, said):
    selects_rows(driver, program, said)
    filters(driver, program, said)
    exports(driver, program, said)


def selects_rows(driver, program, said):
    driver.open(program.origin + "/jobs?queue=exports&state=waiting")
    count = driver.run("return document.querySelectorAll('input[name=job]').length")
    assert count >= 3, count
    visible = "return getComputedStyle(document.querySelector('.selection')).display !== 'none'"
    assert not driver.run(visible)
    driver.click("tbody tr:nth-child(1) input[name=job]")
    driver.click("tbody tr:nth-child(2) input[name=job]")
    assert driver.run(visible)
    assert driver.text(".selected-count") == "2 selected"
    assert driver.run("return document.querySelector('.select-all').indeterminate")
    driver.click(".select-all")
    assert driver.text(".selected-count") == f"{count} selected"
    for number in range(3, count + 1):
        driver.click(f"tbody tr:nth-child({number}) input[name=job]")
    driver.click(".selection button[value=cancel]")
    driver.wait("the confirmation", lambda: driver.text("h1") == "Cancel 2 jobs?")
    press(driver, "Cancel 2 jobs")
    assert "Cancelled: 2 jobs." in driver.text("main"), driver.text("main")
    assert driver.run("return document.querySelectorAll('input[name=job]').length") == count - 2
    said("selected rows are changed, and the others are not")


def filters(driver, program, said):
    driver.open(program.origin + "/jobs")
    assert driver.run("return document.querySelectorAll('#kinds option').length") > 0, "no kinds"
    driver.run("document.querySelector('details.more').open = true")
    driver.run(
        "const form = document.querySelector('form.filter'); form.elements.kind.value = 'publish';"
        "form.elements.payload.value = 'album\":\"export 1'; form.elements['enqueued-from'].value = '2020-01-31T00:00';"
        "form.requestSubmit()")
    driver.wait("the filtered list", lambda: driver.text("#count") == "1 job")
    # The address of the list is its saved view.
    saved = driver.run("return document.querySelector('a.copy').href")
    assert "state=" not in saved and "enqueued-from=2020-01-31T00%3A00%3A00Z" in saved, saved
    driver.open(saved)
    assert driver.text("#count") == "1 job"
    assert driver.run("return document.querySelector('details.more').open")
    driver.open(program.origin + "/jobs?payload=hunter2")
    assert driver.text("#count") == "0 jobs", driver.text("#count")
    said("jobs are found by payload and time, and hidden values are not")


def exports(driver, program, said):
    driver.open(program.origin + "/jobs?kind=mail")
    links = driver.run("return [...document.querySelectorAll('a[download]')].map((link) => link.href)")
    csv, jobs = get(driver, links[0]), json.loads(get(driver, links[1]))
    assert len(jobs) > 5 and all(job["kind"] == "mail" for job in jobs), jobs
    assert "hunter2" not in csv + json.dumps(jobs)
    assert csv.startswith("id,state,kind,") and csv.count("\r\n") == len(jobs) + 1, csv[:300]
    said(f"a list of {len(jobs)} jobs is a file")
