"""users/*, check/user and auth/token/revoke: who the caller is."""

from typing import Any

from dropbox import auth, check, users

from local.dropbox.calls import Call, route
from local.dropbox.entries import Json
from local.dropbox.roots import root_info

_INFO = "account_info.read"


@route("users", users.get_current_account, scope=_INFO)
def get_current_account(call: Call, _arg: None) -> Json:
    account, profile = call.account, call.account.profile
    return {
        "account_id": account.account_id,
        "name": {
            "given_name": profile.given_name,
            "surname": profile.surname,
            "familiar_name": profile.given_name,
            "display_name": f"{profile.given_name} {profile.surname}",
            "abbreviated_name": profile.given_name[:1] + profile.surname[:1],
        },
        "email": profile.email,
        "email_verified": profile.email_verified,
        "disabled": False,
        "locale": profile.locale,
        "referral_link": f"https://www.dropbox.com/referrals/{account.uid}",
        "is_paired": False,
        "account_type": {".tag": profile.plan},
        "root_info": root_info(account),
    }


@route("users", users.get_space_usage, scope=_INFO)
def get_space_usage(call: Call, _arg: None) -> Json:
    allocation = {".tag": "individual", "allocated": call.account.knobs.space}
    return {"used": call.account.tree.used, "allocation": allocation}


@route("check", check.user, scope=_INFO)
def check_user(_call: Call, arg: Any) -> Json:
    return {"result": arg.query}


@route("auth", auth.token_revoke, scope=None)
def token_revoke(call: Call, _arg: None) -> None:
    """Ends the refresh token too, and its other access tokens."""
    call.revoke()
