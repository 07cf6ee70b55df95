"""A team that signs in with a real provider (OpenID Connect) on this machine."""

import json
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from contextlib import contextmanager

from bench.serving import free_port

PEOPLE = [
    {"email": "anna@clinic.example", "name": "Anna Reader", "role": "reader", "id": "r-anna"},
    {"email": "bob@clinic.example", "name": "Bob Reader", "role": "reader", "id": "r-bob"},
    {"email": "adam@clinic.example", "name": "Adam Adjudicator", "role": "adjudicator"},
    {"email": "lea@clinic.example", "name": "Lea Lead", "role": "lead"},
    {"email": "vera@clinic.example", "name": "Vera Viewer", "role": "viewer"},
]


@contextmanager
def provider():
    """Run an identity provider that knows the team; give its address."""
    port = free_port()
    address = f"http://localhost:{port}"
    process = subprocess.Popen(
        [sys.executable, "-m", "oidc_provider_mock", "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    limit = time.monotonic() + 60
    try:
        while not _answers(address):
            assert process.poll() is None, "the provider did not start"
            assert time.monotonic() < limit, "the provider did not start in time"
            time.sleep(0.1)
        for person in PEOPLE:
            put_person(address, person["email"], name=person["name"], email_verified=True)
        yield address
    finally:
        process.terminate()
        process.wait()


def _answers(address):
    try:
        with urllib.request.urlopen(f"{address}/.well-known/openid-configuration", timeout=2):
            return True
    except OSError:
        return False


def put_person(address, sub, **claims):
    """Make somebody known to the provider; their address is ``sub`` unless it is given."""
    request = urllib.request.Request(
        f"{address}/users/{urllib.parse.quote(sub)}",
        data=json.dumps({"email": sub, **claims}).encode(),
        headers={"Content-Type": "application/json"},
        method="PUT",
    )
    with urllib.request.urlopen(request, timeout=10):
        pass


def write_secrets(file, address, base_path=""):
    """Write the secrets.toml of an app whose people sign in with a provider."""
    file.write_text(
        f'[auth]\nredirect_uri = "http://localhost:{{port}}{base_path}/oauth2callback"\n'
        'cookie_secret = "a long secret of this test only"\n'
        'client_id = "rexview"\nclient_secret = "x"\n'
        f'server_metadata_url = "{address}/.well-known/openid-configuration"\n',
        encoding="utf-8",
    )
    return file


def ready(page):
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]')


def sign_in(context, address, sub):
    """Sign in through the provider's page; return the app's page."""
    page = context.new_page()
    page.goto(address)
    page.get_by_role("button", name="Sign in").click()
    page.get_by_placeholder("sub").fill(sub)
    page.get_by_role("button", name="Authorize").click()
    page.wait_for_url(lambda url: url.startswith(address) and "oauth2callback" not in url)
    page.wait_for_selector('[data-testid="stApp"]')
    ready(page)
    return page


def visit(page, address, path):
    """Open a page of the app and return its words."""
    page.goto(address + path)
    page.wait_for_function(
        """() => document.querySelector('[data-testid="stMain"]')?.innerText.trim().length"""
    )
    ready(page)
    return page.locator("body").inner_text()
