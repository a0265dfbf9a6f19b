"""A live page does not take away what a person touches."""

from .tools import change


def key(driver, number):
    return driver.run("return document.querySelectorAll('tbody tr')[arguments[0]].dataset.key", number)


def check(driver, program, said):
    """A selected row stays when its job leaves the list, until it is no longer selected."""
    driver.open(program.origin + "/jobs?state=waiting&queue=exports")
    gone, other = key(driver, 0), key(driver, 1)
    row = f"document.querySelector('tr[data-key=\"{gone}\"]')"
    driver.run(
        f"{row}.querySelector('input').click();"
        "const details = document.querySelector('details.more'); details.open = true;"
        "const menu = document.querySelector('[name=state]'); menu.focus(); window.option = menu.options[0]")
    change(driver, action="cancel", id=gone)
    driver.wait("the row is marked", lambda: driver.run(f"return {row}?.className") == "gone")
    assert driver.run(f"return {row}.nextElementSibling.dataset.key") == other
    assert driver.text(".selected-count") == "1 selected"
    assert driver.run("return document.querySelector('details.more').open")
    assert driver.run("return document.querySelector('[name=state]').options[0] === window.option")
    # While a button of the mouse is down, nothing moves.
    driver.run(f"{row}.querySelector('input').click(); dispatchEvent(new PointerEvent('pointerdown'))")
    driver.run(
        "window.updates = 0; document.addEventListener('page-update', () => { window.updates += 1 });"
        "const stream = new EventSource(document.body.dataset.events);"
        # A page that reads the list after the event has received it before this second reader.
        "window.change = new Promise((resolve) => stream.addEventListener('change', resolve))"
        "  .then(() => stream.close()).then(() => fetch(location.href)).then((response) => response.text());"
        "return new Promise((resolve) => stream.addEventListener('open', resolve)).then(() => null)")
    change(driver, action="cancel", id=other)
    assert driver.run("return window.change.then(() => window.updates)") == 0
    assert driver.run(f"return !!{row}")
    driver.run("dispatchEvent(new PointerEvent('pointerup'))")
    driver.wait("the rows are gone", lambda: driver.run(f"return {row} === null") and driver.run(
        f"return document.querySelector('tr[data-key=\"{other}\"]') === null"))
    said("rows that are selected stay, and nothing moves while a person clicks")
