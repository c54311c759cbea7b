"""What a person does on the pages, by what they read there."""

from playwright.sync_api import Page


def approve(page: Page, *, read_only: bool = False) -> None:
    """On the consent page, and on."""
    if read_only:
        page.get_by_label("only find and read").check()
    page.get_by_role("button", name="Continue to Dropbox").click()


def allow_at_dropbox(page: Page) -> None:
    page.get_by_role("button", name="Allow as").first.click()


def sign_in_to_account(page: Page, base_url: str) -> None:
    """From the account's door to the account, if this browser is not in yet."""
    page.goto(f"{base_url}/account")
    door = page.get_by_role("button", name="Sign in with Dropbox")
    if door.count():
        door.click()
        allow_at_dropbox(page)
    page.get_by_text("Signed in with Dropbox as").wait_for()


def words(page: Page) -> str:
    """What the page says."""
    return page.locator("main").inner_text()
