"""Drivers of the sites that speak TLS."""

import ssl

from exam.scripted import Driver, Script, gets


async def _trust_everyone(driver: Driver) -> None:
    driver.trust = ssl.create_default_context()
    driver.trust.check_hostname = False
    driver.trust.verify_mode = ssl.CERT_NONE


async def _trust_nobody(driver: Driver) -> None:
    driver.trust = ssl.create_default_context()


SCRIPTS: dict[str, Script] = {
    "tls-valid": Script(
        good=gets("/robots.txt", "/", "/a", "/b"),
        bad=[_trust_nobody, *gets("/robots.txt", "/", "/a", "/b")],
        reason="sent no request",
    ),
    "tls-expired": Script(
        good=gets("/robots.txt", "/"), bad=[_trust_everyone, *gets("/robots.txt", "/")], reason="fetched /robots.txt"
    ),
    "tls-wrong-name": Script(
        good=gets("/robots.txt", "/"), bad=[_trust_everyone, *gets("/robots.txt", "/")], reason="fetched /robots.txt"
    ),
}
