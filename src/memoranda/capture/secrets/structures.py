"""Places made for secrets: key blocks, addresses with a password, headers, cookies, configuration files, commands."""

import re
from collections.abc import Iterator

from memoranda.capture.secrets.forms import addresses
from memoranda.capture.secrets.secret import Secret
from memoranda.capture.secrets.values import is_key, is_placeholder, is_strong
from memoranda.capture.secrets.vendors import Rule

_BLOCK = "(?s)(-----BEGIN[ A-Z0-9]{0,30}%s-----.*?(?:-----END[ A-Z0-9]{0,30}%s-----|\\z))"
_PRIVATE = "PRIVATE KEY(?: BLOCK)?"
_PUBLIC = "(?:CERTIFICATE|PUBLIC KEY|PUBLIC KEY BLOCK|SIGNATURE|MESSAGE|REQUEST|PARAMETERS|CRL|PKCS7)"

_AUTHORITY_ENDS = re.compile("[/?#]")
# Their passwords are often written as they are, with signs in them that should be escaped.
_DATABASES = ("postgres", "mysql", "mariadb", "mongodb", "redis", "amqp", "mssql", "ftp", "smtp", "ldap")

# Taken whole.
_WHOLE: tuple[Rule, ...] = (
    Rule("private key", ("private key",), "(?i)" + _BLOCK % (_PRIVATE, _PRIVATE)),
    Rule("private key", ("static key v1",), "(?i)" + _BLOCK % ("OPENVPN STATIC KEY V1", "OPENVPN STATIC KEY V1")),
    Rule("private key", ("private-lines:",), "(?is)(private-lines:.*)"),
    Rule("cookie", ("cookie:",), "(?i)cookie:\\s*[\"']?([^\\s=;]{1,64}=[^\\r\\n\"']{8,})"),
)
# The first group is a value that somebody may have left as a placeholder.
_VALUES: tuple[Rule, ...] = (
    Rule("authorization", ("authorization", "x-api-key", "x-auth-token"),
         "(?i)(?:authorization|x-api-key|x-auth-token)[\"']?\\s*[:=]\\s*[\"']?"
         "(?:(?:bearer|basic|token|digest|apikey|key|ssws|bot|negotiate)\\s+)?([^\\s\"']{8,})"),
    Rule("authorization", ("bearer",), "(?i)\\bbearer[\\s:=\"']{1,4}([a-z0-9_.~+/=-]{16,})"),
    Rule("docker", ("auth",), "(?i)[\"']_?auth[\"']?\\s*[:=]\\s*[\"']([a-z0-9+/]{8,}={0,2})[\"']"),
    Rule("npm", ("_auth", "_password"), "(?im)^\\s*(?://[^\\s=]{1,100}:)?_(?:auth|authtoken|password)\\s*=\\s*[\"']?([^\\s\"']{8,})"),
    Rule("azure", ("accountkey=", "sharedaccesskey=", "accesskey="),
         "(?i)(?:accountkey|sharedaccesskey|accesskey)=([a-z0-9+/]{20,}={0,2})"),
    Rule("signed URL", ("sig=", "signature="), "(?i)[?&](?:sig|signature|x-amz-signature)=([a-z0-9%+/_=-]{20,})"),
    Rule("password", ("-u ", "--user"),
         "(?i)curl\\b[^\\n]{0,200}?\\s(?:-u|--user)[ =]+[\"']?[^\\s:\"']{1,64}:([^\\s\"']{3,})"),
    Rule("password", ("sshpass", "mysql", "mariadb"),
         "(?i)\\b(?:sshpass|mysql\\w*|mariadb\\w*)\\b[^\\n]{0,100}?\\s-p\\s?[\"']?([^\\s\"'-][^\\s\"']{3,})"),
    Rule("password", ("cleartextpassword", "password\" value"), "(?i)password\"\\s+value=\"([^\"]{3,})\""),
    Rule("pgpass", (":5432:",), "(?i)[a-z0-9.*-]{1,100}:5432:[^\\s:]{1,64}:[^\\s:]{1,64}:(\\S{3,})"),
    Rule("otp secret", ("otpauth://",), "(?i)otpauth://[^\\s\"']{0,200}?secret=([a-z2-7]{8,})"),
    Rule("session", ("sessionid=", "sessid=", "session=", "connect.sid="),
         "(?i)(?:sessionid|sessid|session|connect\\.sid)=([^\\s;\"'&]{12,})"),
)  # fmt: skip


def structures(text: str, low: str) -> Iterator[Secret]:
    """What stands in such places. Text that has none of the marks costs a search for each."""
    if "://" in low and "@" in low:
        yield from _addresses(text)
    for rule in _WHOLE:
        if any(mark in low for mark in rule.marks):
            for found in rule.compiled.finditer(text):
                yield Secret(rule.name, *found.span(1))
    for rule in _VALUES:
        if any(mark in low for mark in rule.marks):
            for found in rule.compiled.finditer(text):
                if _is_value(rule.name, found[1]):
                    yield Secret(rule.name, *found.span(1))


def _addresses(text: str) -> Iterator[Secret]:
    """What stands before the @ of an address: a name and a password, or a token. A mail address has no password."""
    for start, end in addresses(text):
        scheme, _, rest = text[start:end].partition("://")
        authority = _AUTHORITY_ENDS.split(rest, maxsplit=1)[0]
        if "@" not in authority and scheme.lower().startswith(_DATABASES):
            authority = rest
        user, colon, password = authority.rpartition("@")[0].partition(":")
        if (colon and password and not is_placeholder(password)) or (not colon and is_key(user, beside=False)):
            begin = start + len(scheme) + len("://")
            yield Secret("password in a URL", begin, begin + len(user + colon + password))


def _is_value(rule: str, value: str) -> bool:
    """No placeholder; and behind "Authorization:" no word of a sentence either."""
    return not is_placeholder(value) and (rule != "authorization" or is_strong(value) or is_key(value, beside=True))


def public_blocks(text: str, low: str) -> list[tuple[int, int]]:
    """Certificates, public keys and signatures: random to look at, and made to be shown."""
    if "-----begin" not in low:
        return []
    rule = Rule("public", (), "(?i)" + _BLOCK % (_PUBLIC, _PUBLIC))
    return [found.span(1) for found in rule.compiled.finditer(text)]
