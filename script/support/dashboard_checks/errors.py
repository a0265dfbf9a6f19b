"""The page of errors: it leads to the jobs of an error, and mutes one."""

from .tools import link, press


def group(driver, script):
    """Evaluates a script with the first group of the page."""
    return driver.run(f"const group = document.querySelector('.error-group'); return {script}")


def check(driver, program, said):
    driver.open(program.origin + "/failures")
    assert driver.run("return location.pathname").endswith("/errors"), "the former address does not lead to the page"
    assert group(driver, "group !== null"), driver.text("main")
    name = group(driver, "group.id")
    message = group(driver, "group.querySelector('.message').textContent")
    count = group(driver, "[...group.querySelectorAll('dt')].find(d => d.textContent === 'failed jobs')"
                          ".nextElementSibling.textContent")
    driver.open(group(driver, "[...group.querySelectorAll('dt')].find(d => d.textContent === 'failed jobs')"
                              ".nextElementSibling.querySelector('a').href"))
    rows = driver.run("return document.querySelectorAll('#jobs tbody tr').length")
    assert rows == int(count.replace(",", "").rstrip("+")), (rows, count)
    assert message in driver.text("main"), driver.text("main")
    said("an error leads to exactly its jobs")
    driver.open(program.origin + "/errors")
    driver.run(
        f"const form = document.querySelector('#{name} .mute form');"
        "form.closest('details').open = true; form.elements.note.value = 'vendor is down'")
    driver.run(
        "document.body.dataset.old = 'yes';" f"document.querySelector('#{name} .mute form button').click()")
    driver.wait("the page after the mute", lambda: "The error is muted." in (driver.text("main") or ""))
    assert not driver.run(f"return document.getElementById('{name}') !== null"), "the muted error is still listed"
    driver.open(link(driver, "Muted errors"))
    assert "vendor is down" in driver.text(f"#{name}"), driver.text("main")
    press(driver, "Unmute")
    assert "The error is no longer muted." in driver.text("main"), driver.text("main")
    said("an error is muted with a note, and unmuted")
