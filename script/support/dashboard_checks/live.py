"""Pages that follow the store."""

from .tools import change, found, is_live, press


def check(driver, program, said):
    follows_changes(driver, program, said)
    keeps_what_is_touched(driver, program, said)
    keeps_a_newer_payload(driver, program, said)
    shares_one_stream(driver, program, said)


def follows_changes(driver, program, said):
    """A page follows a change that another page makes, and what a person types stays."""
    driver.open(program.origin + "/queues")
    first = driver.window()
    driver.open(program.origin + "/")
    driver.wait("the page is live", lambda: is_live(driver))
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


def keeps_what_is_touched(driver, program, said):
    """Parts that appear later are shown, and the selection, the focus and typed text remain."""
    address = found(driver, program, "label=Long&state=running", "Long conversion 2")
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
    address = found(driver, program, "queue=exports&state=waiting", "waiting")
    driver.open(address)
    driver.run(
        "const fields = document.querySelector('form.change').elements; fields.priority.value = 'low';"
        "fields.payload.value = '[7]'; fields.payload.focus()")
    shown = driver.run("return document.querySelector('form.change').elements.shown.value")
    change(
        driver, action="change", id=address.rsplit("/", 1)[1], shown=shown, priority="high", queue="moved",
        payload=driver.run("return document.querySelector('form.change').elements.payload.defaultValue"))
    driver.wait("the queue of the changed job", lambda: "moved" in driver.text("#properties"))
    assert driver.run(
        "const fields = document.querySelector('form.change').elements;"
        "return [fields.priority.value, fields.queue.value, fields.payload.value, document.activeElement.name]"
    ) == ["low", "moved", "[7]", "payload"]
    press(driver, "Save")
    assert "The job is changed." in driver.text("main"), driver.text("main")
    driver.open(program.origin + "/queues")
    field = (
        "[...document.querySelectorAll('.queue')].find(q => q.querySelector('h2').textContent === 'images')"
        ".querySelector('[name=limit]')")
    driver.run(f"const field = {field}; field.focus(); field.value = '77'")
    change(driver, action="resume", queue="images")
    driver.wait("the queue is resumed", lambda: (
        "paused" not in driver.run(f"return {field}.closest('.queue').textContent")))
    assert driver.run(f"return {field}.value === '77' && document.activeElement === {field}")
    said("new parts appear, and the selection, the focus and the input stay")


def keeps_a_newer_payload(driver, program, said):
    """A typed payload does not replace one that another person has stored in the meantime."""
    driver.open(found(driver, program, "queue=moved&state=waiting", "moved"))
    area, base, version = (f"document.querySelector('[name={name}]')" for name in ("payload", "payload-shown", "shown"))
    fields = driver.run("return Object.fromEntries(new FormData(document.querySelector('form.change')))")
    driver.run(f"{area}.value = '[\"typed\"]'")
    change(driver, **(fields | {"payload": '{"album": "newer"}'}))
    driver.wait("the newer version", lambda: driver.run(f"return {version}.value") != fields["shown"])
    assert driver.run(f"return {area}.value") == '["typed"]'
    assert driver.run(f"return {base}.value") == fields["payload-shown"]
    press(driver, "Save")
    assert "nothing was done" in driver.text("main"), driver.text("main")
    said("a payload that another person has changed is not replaced")


def shares_one_stream(driver, program, said):
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
