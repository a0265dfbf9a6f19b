"""The jobs that wait for their next attempt."""

from .tools import found, press


def check(driver, program, said):
    driver.open(program.origin + "/")
    tile = "document.querySelector('#tiles [data-key=retrying]')"
    assert driver.run(f"return {tile}.className") == "warn", driver.text("#tiles")
    driver.open(driver.run(f"return {tile}.querySelector('a').href"))
    assert "Run all now…" in driver.text("main"), driver.text("main")
    driver.open(found(driver, program, "state=retrying", "closed the connection"))
    press(driver, "Run now")
    assert "The job is due now." in driver.text("main"), driver.text("main")
    said("retrying jobs")
