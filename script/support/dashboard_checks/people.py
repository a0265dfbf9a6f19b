"""People who log in with names and roles, and the page with their changes."""

import hashlib
import os
import tempfile

from .tools import page_errors, press

PASSWORD = "correct horse battery"


def line(name, role):
    """A line of the list of people; with few iterations, because a check need not resist guessing."""
    salt, count = os.urandom(16), 1000
    digest = hashlib.pbkdf2_hmac("sha256", PASSWORD.encode(), salt, count).hex()
    return f"{name}:{role}:pbkdf2-sha256${count}${salt.hex()}${digest}\n"


def log_in(driver, program, name, password):
    driver.open(program.origin + "/")
    driver.run(
        "document.querySelector('[name=name]').value = arguments[0];"
        "document.querySelector('[name=password]').value = arguments[1]", name, password)
    press(driver, "Log in")


def log_out(driver):
    driver.run(
        "document.body.dataset.old = 'yes';"
        "[...document.querySelectorAll('header button')].find(b => b.textContent === 'Log out').click()")
    driver.wait("the page after logging out", lambda: driver.run("return document.body?.dataset.old !== 'yes'"))


def person(driver):
    return driver.run("return document.querySelector('header .person')?.textContent ?? null")


def check(driver, program, said):
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as people:
        people.write(line("anna", "operate") + line("bob", "look"))
        people.flush()
        server = program.another("--users", people.name)
        try:
            roles(driver, server)
            changes(driver, server)
        finally:
            server.stop()
    said("people with roles, and the page with their changes")


def roles(driver, program):
    log_in(driver, program, "bob", "wrong")
    assert "The name or the password is wrong." in driver.text("main"), driver.text("main")
    log_in(driver, program, "bob", PASSWORD)
    assert person(driver) == "bob", person(driver)
    driver.open(program.origin + "/queues")
    assert driver.run("return document.querySelectorAll('main form[method=post] button').length") == 0
    log_out(driver)
    assert "You are not logged in." in driver.text("main"), driver.text("main")
    driver.open(program.origin + "/queues")
    assert person(driver) is None


def changes(driver, program):
    log_in(driver, program, "anna", PASSWORD)
    driver.open(program.origin + "/queues")
    driver.run("document.querySelector('.settings [name=limit]').value = '7'")
    press(driver, "Save")
    driver.open(program.origin + "/changes")
    errors = [error for error in page_errors(driver) if "403" not in error]
    assert not errors, errors
    first = driver.run("return document.querySelector('#changes tbody tr').innerText")
    assert "anna" in first and "maximum running" in first and "7" in first, first
