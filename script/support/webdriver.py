"""As much of the W3C WebDriver protocol as the checks need, by the standard library."""

import base64
import json
import os
import signal
import subprocess
import time
import urllib.error
import urllib.request

TAB, ENTER, SPACE, LEFT = "\ue004", "\ue007", " ", "\ue012"
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


class Driver:
    """A chromedriver with one headless browser."""

    def __init__(self, folder, width=1200, height=1080):
        self.process = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            start_new_session=True)
        for line in self.process.stdout:
            if "started successfully on port" in line:
                self.base = f"http://127.0.0.1:{line.rstrip().rstrip('.').split()[-1]}"
                break
        arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={folder}",
            f"--window-size={width},{height}", "--hide-scrollbars", "--disable-background-timer-throttling",
            "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding"]
        answer = self.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": {"binary": "/usr/bin/chromium", "args": arguments},
            "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.session = f"/session/{answer['sessionId']}"

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.base + path, data=data, method=method, headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as response:
                return json.load(response)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{path}: {error.read().decode()[:500]}") from error

    def command(self, method, path, body=None):
        return self.call(method, self.session + path, body)

    def open(self, url):
        self.command("POST", "/url", {"url": url})

    def run(self, script, *arguments):
        return self.command("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def click(self, selector):
        found = self.command("POST", "/element", {"using": "css selector", "value": selector})
        self.command("POST", f"/element/{found[ELEMENT]}/click", {})

    def press(self, *keys):
        """Presses keys, one after the other, where the focus is."""
        actions = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.command("POST", "/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def drag(self, selector, target):
        """Drags an element onto another with the mouse."""
        found = [self.command("POST", "/element", {"using": "css selector", "value": one}) for one in (selector, target)]
        move = lambda element, x=0, y=0: {
            "type": "pointerMove", "origin": element, "x": x, "y": y, "duration": 100}
        self.command("POST", "/actions", {"actions": [{
            "type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": [
                move(found[0]), {"type": "pointerDown", "button": 0}, move(found[0], 5, 5), move(found[1], 0, 5),
                move(found[1]), {"type": "pointerUp", "button": 0}]}]})

    def find(self, selector):
        return self.command("POST", "/element", {"using": "css selector", "value": selector})

    def point(self, selector, *moves, pressed=False):
        """Moves the mouse to places, relative to the center of an element, optionally with its button pressed."""
        element = self.find(selector)
        steps = [{"type": "pointerMove", "origin": element, "x": x, "y": y, "duration": 20} for x, y in moves]
        if pressed:
            steps = [steps[0], {"type": "pointerDown", "button": 0}, *steps[1:], {"type": "pointerUp", "button": 0}]
        self.command("POST", "/actions", {"actions": [{
            "type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": steps}]})

    def touch(self, selector, *fingers):
        """Moves several fingers at the same time, each along positions relative to the center of an element."""
        element = self.find(selector)

        def steps(places):
            moves = [{"type": "pointerMove", "origin": element, "x": x, "y": y, "duration": 20} for x, y in places]
            return [moves[0], {"type": "pointerDown", "button": 0}, *moves[1:], {"type": "pointerUp", "button": 0}]

        self.command("POST", "/actions", {"actions": [
            {"type": "pointer", "id": f"finger {number}", "parameters": {"pointerType": "touch"},
             "actions": steps(places)} for number, places in enumerate(fingers)]})

    def wheel(self, selector, dx, dy, x=0, y=0):
        """Turns the wheel at a place, relative to the center of an element."""
        self.command("POST", "/actions", {"actions": [{"type": "wheel", "id": "wheel", "actions": [{
            "type": "scroll", "origin": self.find(selector), "x": x, "y": y, "deltaX": dx, "deltaY": dy,
            "duration": 0}]}]})

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0])?.textContent ?? null", selector)

    def wait(self, what, condition, seconds=120):
        """Until a condition holds. The time is for a machine that hangs, and proves nothing."""
        end = time.monotonic() + seconds
        while True:
            value = condition()
            if value:
                return value
            if time.monotonic() > end:
                raise AssertionError(f"never came: {what}")
            time.sleep(0.05)

    def new_window(self):
        return self.command("POST", "/window/new", {"type": "window"})["handle"]

    def window(self):
        return self.command("GET", "/window")

    def switch(self, handle):
        self.command("POST", "/window", {"handle": handle})

    def resize(self, width, height):
        """Sets the size of the page; a window can't be as narrow as a phone."""
        self.command("POST", "/goog/cdp/execute", {
            "cmd": "Emulation.setDeviceMetricsOverride",
            "params": {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}})

    def emulate(self, features):
        self.command("POST", "/goog/cdp/execute", {
            "cmd": "Emulation.setEmulatedMedia",
            "params": {"features": [{"name": name, "value": value} for name, value in features.items()]}})

    def picture(self, path):
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.command("GET", "/screenshot")))

    def errors(self):
        """The complaints of the browser."""
        entries = self.command("POST", "/se/log", {"type": "browser"})
        return [entry["message"] for entry in entries if entry["level"] == "SEVERE"]

    def quit(self):
        try:
            self.command("DELETE", "")
        finally:
            os.killpg(self.process.pid, signal.SIGTERM)
            self.process.wait()
