"""What the checks do with a page."""

WIDTHS = {"wide": (1400, 900), "middle": (800, 900), "phone": (380, 780)}
SCHEMES = ["light", "dark"]
MENU = ["", "queues", "jobs", "errors", "trends", "schedules", "workers", "changes", "health"]


def page_errors(driver):
    """What the browser complains of, and text that became markup."""
    found = driver.errors()
    if driver.run("return document.querySelectorAll('img, main script, [onerror], [onload], [style]').length"):
        found.append("text of a job became markup")
    if driver.run("return document.documentElement.scrollWidth > innerWidth"):
        found.append("the page is wider than the window")
    if driver.run("const menu = document.querySelector('nav'); return menu.scrollWidth > menu.clientWidth"):
        found.append("the menu does not show all pages")
    return found


def link(driver, text):
    """The address of the first link or job row that contains a text."""
    return driver.run(
        "const row = [...document.querySelectorAll('tr, .button, a')].find(r => r.textContent.includes(arguments[0]));"
        "return row?.href ?? row?.querySelector('a')?.href ?? null", text)


def texts(driver, selector):
    """The texts of all elements of a selector."""
    return driver.run("return [...document.querySelectorAll(arguments[0])].map((node) => node.textContent)", selector)


def found(driver, program, query, text):
    """The address of the first job of a list whose row contains a text."""
    driver.open(f"{program.origin}/jobs?{query}")
    return driver.run(
        "const row = [...document.querySelectorAll('main tbody tr')].find(r => r.textContent.includes(arguments[0]));"
        "return row?.querySelector('a[href*=\"/job/\"]')?.href ?? null", text)


def press(driver, text):
    """Presses the button with a text, and waits for the next page."""
    driver.run(
        "document.body.dataset.old = 'yes';"
        "[...document.querySelectorAll('main button')].find(b => b.textContent === arguments[0]).click()", text)
    driver.wait(f"the page after {text}", lambda: driver.run("return document.body?.dataset.old !== 'yes'"))


def change(driver, **fields):
    """Sends the form of a button without changing the page."""
    status = driver.run(
        "const [form, base] = [new URLSearchParams(arguments[0]), document.body.dataset.base];"
        # Not every page has a form with a token.
        "return fetch(`${base}/queues`).then((response) => response.text()).then((text) => {"
        "  const page = new DOMParser().parseFromString(text, 'text/html');"
        "  form.set('token', page.querySelector('input[name=token]').value);"
        "  return fetch(`${base}/change`, { method: 'POST', body: form });"
        "}).then((response) => response.status)", fields)
    assert status == 200, (status, fields)


def is_live(driver):
    return driver.run("return document.querySelector('#live').classList.contains('on')"
                      " && document.querySelector('#warning').hidden")


def pages(driver, program):
    """The addresses of all kinds of pages, by their names."""
    all_pages = {name or "overview": f"{program.origin}/{name}" for name in MENU}
    all_pages |= {
        "merge": found(driver, program, "label=Merge", "Merge the feeds"),
        "running": found(driver, program, "label=Long", "Long conversion"),
        "failed": found(driver, program, "label=Slow", "Slow server"),
        "discarded": found(driver, program, "state=failed", "does not exist"),
        "attack": found(driver, program, "queue=exports&label=script", "<script>"),
        "filter": program.origin + "/jobs?state=waiting&queue=bulk",
        "confirm": program.origin + "/confirm?action=retry&state=failed",
        "nothing": program.origin + "/nothing"}
    return {name: address for name, address in all_pages.items() if address}
