"""The buttons and forms."""

from .tools import found, link, press


def check(driver, program, said):
    driver.open(found(driver, program, "state=failed&tag=newsletter", "failed"))
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
    driver.open(found(driver, program, "state=scheduled&kind=publish", "scheduled"))
    driver.run(
        "const form = document.querySelector('form.change'); form.elements.priority.value = 'high';"
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
