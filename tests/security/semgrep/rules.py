# What the rules find and what they leave alone: `semgrep scan --test tests/security/semgrep`.
def compared(digest, given, hmac):
    # ruleid: signature-compared-in-constant-time
    if digest.hexdigest() == given:
        return True
    # ok: signature-compared-in-constant-time
    return hmac.compare_digest(digest.hexdigest(), given)


def logged(_log, event, request, account, error):
    # ruleid: nothing-of-a-person-in-logs
    _log.info("A call", extra={"who": request.headers})
    # ruleid: nothing-of-a-person-in-logs
    _log.warning("A call", query=request.query)
    # ruleid: nothing-of-a-person-in-logs
    _log.error(event)
    # ok: nothing-of-a-person-in-logs
    _log.info("A call", extra={"kind": type(error).__name__})


# ruleid: the-powertools-logger-never-logs-events
@logger.inject_lambda_context(log_event=True)
def handler(event, context): ...


def address(request, issuer):
    # ruleid: addresses-come-from-configuration
    here = request.url
    # ok: addresses-come-from-configuration
    return issuer.url


def now(clock, datetime):
    # ruleid: time-and-chance-are-handed-in
    datetime.now()
    # ok: time-and-chance-are-handed-in
    return clock.now()
