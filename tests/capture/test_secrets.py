"""Secrets are found and taken out whole; what is said about secrets, and what only looks random, is left alone.

No line here holds a whole secret: they are made of parts, or of random characters, when a test runs.
"""

import random
import re
import string
import subprocess
import sys
import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memoranda.capture.secrets import Secret, redacted, secrets
from memoranda.capture.secrets.glance import (
    ALWAYS,
    ALWAYS_BEYOND_ASCII,
    WITH_DIGIT,
    WITH_DIGIT_BEYOND_ASCII,
    could_hold_secret,
)
from memoranda.capture.secrets.words import CODES, KEYS, LISTS, PASSWORDS, PHRASES

_ALPHABETS = {
    "h": "0123456789abcdef",
    "a": string.ascii_lowercase + string.digits,
    "A": string.ascii_letters + string.digits,
    "U": string.ascii_uppercase + string.digits,
    "w": string.ascii_letters + string.digits + "_-",
    "b": string.ascii_letters + string.digits + "+/",
    "d": string.digits,
}
# What services write before or around their keys. {h32} is 32 random characters of the alphabet h.
SHAPES = """
    A3-{U6}-{U11}-{U5}-{U5}-{U5} | ops_eyJ{b260} | p8e-{a32} | AGE-SECRET-KEY-1{U58} | pat{A14}.{h64} | LTAI{A20}
    sk-ant-api03-{w93}AA | sk-ant-admin01-{w93}AA | AKCp{A69} | cmVmdGtu{A56} | ATATT3{w186} | AKIA{U16} | ASIA{U16}
    ABSK{b110} | {A3}7Q~{w33} | CLOJARS_{a60} | v1.0-{h24}-{h146} | dapi{h32} | dnkey-{w26}-{w52} | dop_v1_{h64}
    doo_v1_{h64} | dor_v1_{h64} | dp.pt.{a43} | sl.{w135} | duffel_test_{w43} | dt0c01.{a24}.{a64} | EZAK{a54}
    EZTK{a54} | {d15}|{w27} | EAAM{A120} | FLWSECK_TEST-{h32} | fo1_{w43} | fm2_{b120} | fio-u-{w64} | AIza{w35}
    ghp_{A36}
    gho_{A36} | ghu_{A36} | ghs_{A36} | ghr_{A36} | github_pat_{A22}_{A59} | glpat-{w20} | glcbt-1_{w20} | gldt-{w20}
    glft-{w20} | GR1348941{w20} | glrt-{w20} | glsoat-{w20} | glptt-{h40} | live_{w40} | eyJrIjoi{b80} | glc_{b80}
    glsa_{A32}_{h8} | pat.{w22}.{h24}.{A20} | {a14}.atlasv1.{w64} | HRKU-AA{w58} | hf_{A34} | ico-{A32}
    eyJ{A33}.eyJ{w60}.{w43} | lin_api_{a40} | live_{h35} | test_pub_{h31} | {h32}-us20 | key-{h32} | pk.{a60}.{a22}
    {A6}_{A29}_mmk | NRJS-{h19} | NRAK-{a27} | NRII-{w32} | ntn_{d11}{A35} | npm_{a36} | API-{U26} | sk-{A20}T3Blbk{A22}
    sk-svcacct-{w74}T3Blbk{w74} | sk-proj-{w80} | sha256~{w43} | pplx-{A48} | access-sandbox-{uuid} | pscale_pw_{w40}
    PMAK-{h24}-{h34} | pnu_{a36} | pul-{h40} | pypi-AgEIcHlwaS5vcmc{w80} | rdme_{a70} | rubygems_{h48} | tk-us-{w48}
    SG.{w22}.{w43} | xkeysib-{h64}-{a16} | sntryu_{h64} | sm_aat_{A16} | shippo_live_{h40} | shpat_{h32} | shpca_{h32}
    xapp-1-{U11}-{d13}-{h64} | xoxb-{d12}-{d12}-{A24} | xoxe.xoxp-1-{U163} | xoxp-{d11}-{d11}-{d12}-{h32}
    https://hooks.slack.com/services/{U9}/{U11}/{A24} | sgp_{h16}_{h40} | EAAA{w60} | rk_prod_{A30} | sk_test_{A24}
    {d9}:A{w34} | SK{h32} | tfp_{w59} | hvb.{w150} | hvs.{w95} | gsk_{A52} | xai-{A80} | r8_{A37} | sbp_{h40}
    sb_secret_{w22}_{w8} | figd_{w40} | re_{A8}_{A24} | tskey-auth-{A12}-{A32} | sk-or-v1-{h64} | sk-{h32}
    dckr_pat_{w27} | CCIPAT_{A22}_{h40} | bkua_{h40} | sk_{h48} | pcsk_{A6}_{A63} | lsv2_pt_{h32}_{h10} | phx_{A43}
    nvapi-{w64}
    GOCSPX-{w28} | ya29.{w80} | syt_{A12}_{A20}_{A6} | mlsn.{h64} | xprv{A107} | whsec_{b32} | PLAIN={A40}
    {w24}.{w6}.{w38}
"""
# Services whose keys have no shape: their name is before the key, with one of the signs of assignment.
NAMED = """
    adafruit {a32} | adobe {h32} | algolia {a32} | asana {a32} | atlassian {a24} | bitbucket {a32} | bittrex {a32}
    meraki {h40} | cloudflare {w40} | codecov {a32} | cohere {A40} | coinbase {w64} | confluent {a16} | contentful {w43}
    datadog {a40} | discord {h64} | droneci {a32} | dropbox {a64} | etsy {a24} | facebook {h32} | fastly {w32}
    finicity {h32} | finnhub {a20} | flickr {a32} | freshbooks {a64} | gitter {w40} | heroku {uuid} | hubspot {uuid}
    intercom {w60} | jfrog {a73} | kraken {b84} | kucoin {h24} | launchdarkly {w40} | linear {h32} | looker {a24}
    mattermost {a26} | messagebird {a25} | netlify {w43} | newrelic {a64} | nytimes {w32} | okta 00{w40} | plaid {a30}
    privateai {a32} | rapidapi {w50} | sendbird {h40} | sentry {h64} | snyk {uuid} | sonar {a40} | squarespace {uuid}
    sumologic {a64} | travis {a22} | trello {A32} | twitch {a30} | twitter {a50} | zendesk {a40} | mistral {A32}
"""
SENTENCES = (
    "my {} please keep it",
    "here it is: {}",
    "can you save this? {} thanks",
    "{}",
    "ok so {} is what they sent me",
)
SIGNS = (' = "{}"', ": {}", "={}", " := '{}'", ' => "{}"', ': "{}"')
SUFFIXES = ("_key", "_token", "_secret", "-api-key", "", "Token", "_client_secret")


def _filled(shape: str, chance: random.Random) -> tuple[str, list[str]]:
    """A made-up key, and its random parts."""
    parts = []

    def fill(found: re.Match[str]) -> str:
        kind = found[1]
        sizes = (8, 4, 4, 4, 12) if kind == "uuid" else (int(kind[1:]),)
        alphabet = _ALPHABETS["h" if kind == "uuid" else kind[0]]
        part = "-".join("".join(chance.choices(alphabet, k=size)) for size in sizes)
        parts.append(part)
        return part

    return re.sub(r"\{(\w+)\}", fill, shape), parts


def _hold_out(seed: int) -> list[tuple[str, list[str]]]:
    chance = random.Random(seed)
    samples = []
    for shape in re.split(r"\s+\|\s+|\n\s*", SHAPES.strip()):
        key, parts = _filled(shape, chance)
        samples.append((chance.choice(SENTENCES).format(key), parts))
    for line in re.split(r"\s+\|\s+|\n\s*", NAMED.strip()):
        name, shape = line.split()
        key, parts = _filled(shape, chance)
        setting = chance.choice((name, name.upper())) + chance.choice(SUFFIXES) + chance.choice(SIGNS).format(key)
        samples.append((chance.choice(SENTENCES).format(setting), parts))
    return samples


def test_made_up_keys_of_many_services_are_found_and_nothing_of_them_is_left():
    samples = _hold_out(7) + _hold_out(8)
    assert len(samples) >= 300
    left = [
        text
        for text, parts in samples
        if any(part[at : at + 8] in redacted(text) for part in parts if len(part) >= 8 for at in range(len(part) - 7))
    ]
    assert len(left) <= len(samples) * 0.03, left


TOLD = [
    ("my wifi password is {}", "Blue-Kettle" + "77!x"),
    ("the password for the NAS has been changed to {}", "Rusty77" + "!Nail"),
    ("My password is {}.", "hunter" + "2"),
    ("password: {}", "sword" + "fish"),
    ("our wifi is HomeNet and the password is {}", "sun" + "flower"),
    ('"password": "{}"', "sword" + "fish"),
    ("DB_PASSWORD={}", "tr0ub4" + "dor"),
    ("password:\n{}", "tr0ub4" + "dor"),
    ("{} is my wifi password", "Blue-Kettle" + "77"),
    ("use {} as the password", "Kettle" + "!99"),
    ("moje hasło to {}", "Zielony" + "#Kot42"),
    ("hasłem jest {}", "Kotek" + "2020"),
    ("mein WLAN-Passwort ist {}", "Sommer" + "2026"),
    ("das Kennwort lautet {}", "Xy12" + "!kk"),
    ("mi contraseña del wifi es {}", "gato" + "2024"),
    ("le mot de passe est {}", "Soleil" + "#99"),
    ("heslo k wifi je {}", "Pes" + "2020x"),
    ("我的密码是{}", "abc" + "12345"),
    ("wifi密码：{}", "Hello" + "2024"),
    ("パスワードは{}です", "neko" + "1234"),
    ("비밀번호는 {} 입니다", "star" + "9876"),
    ("la password è {}", "Gatto" + "2023"),
    ("a senha é {}", "Gato" + "2023"),
    ("het wachtwoord is {}", "Fiets" + "2023"),
    ("пароль от вайфая - {}", "Zima" + "2024"),
    ("my card PIN is {}", "48" + "21"),
    ("{} is my PIN", "48" + "21"),
    ("PIN do karty to {}", "48" + "21"),
    ("kod do bramy to {}", "48" + "21"),
    ("kod do domofonu {}", "45#" + "1289"),
    ("the door code is {}", "48" + "21#"),
    ("the safe combination is {}", "12-34" + "-56"),
    ("暗証番号は{}です", "48" + "21"),
    ("my CVV is {}", "12" + "3"),
    ("verification code is {}", "482" + "913"),
    ("card {} exp 12/27", "4111 1111 " + "1111 1111"),
    ("2fa secret {}", "JBSWY3DPEHPK" + "3PXP7PKACDBZ"),
    ("backup codes: {}", "8f3k-29dk 1m4n-77ab " + "90zz-aa12"),
    ("app password: {}", "abcd efgh " + "ijkl mnop"),
    ("my recovery phrase is {}", "zebra apple candy tiger ocean planet " + "silver window garden bridge rocket velvet"),
    ("seed: {}", "1. zebra 2. apple 3. car 4. tiger 5. sun 6. eye " + "7. sea 8. door 9. car 10. arm 11. leg 12. hat"),
    ("postgres://admin:{}@db.internal:5432/app", "mtnWNCX" + "VJCNQCm"),
    ("redis://:{}@10.0.0.5:6379/0", "p@ss/w" + "ord1"),
    ("https://api.example/v1?api_key={}&x=1", "kfqS1dXba9rELoX" + "opBBnCrv7VzGgefw5"),
    ("curl -H 'Authorization: Bearer {}' https://api.example", "pdCGAe40O1c6XC4S" + "OHDMm0lM7EXg3L"),
    ("Cookie: sessionid={}", "aMhmpgppa0nLgTET" + "oD4uyetiAY2bv6dF"),
    ('{{"auths":{{"r.example":{{"auth":"{}"}}}}}}', "dXNlcjpwYXN" + "zdzByZCE="),
    ("sshpass -p {} ssh root@host", "Tr0ub4" + "dor"),
    ("machine github.com login bob password {}", "tr0ub4" + "dor3"),
    ("-----BEGIN RSA " + "PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----", "JoiFpKZsRaSqT" + "WaaB3xzXpMZu"),
    ("-----BEGIN OPENSSH " + "PRIVATE KEY-----\n{}", "b3BlbnNzaC1rZXktdjEA" + "AAAAPu05MC4j1wrC"),
]  # fmt: skip


@pytest.mark.parametrize(("sentence", "value"), TOLD)
def test_a_sentence_that_tells_a_secret_is_kept_without_it(sentence, value):
    assert value not in redacted(sentence.format(value))
    assert "[secret: " in redacted(sentence.format(value))


SPOKEN_OF = """
I forgot my password
my password is too long
is the password correct?
the password is stored in 1Password
My password manager is Bitwarden
the token is expired
the secret is patience
Password must be at least 12 characters
your password will expire in 14 days
Password: required
password = getpass.getpass()
password: str = Field(min_length=8)
API_KEY = os.environ["API_KEY"]
token = "your_token_here"
export GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
the key to happiness is sleep
the key is under the mat
zip code is 90210
the error code is 4042
the building code 2018 was updated
pin 13 on the arduino is connected to the LED
We use OAuth2 tokens with sha256 signatures
what's the password to office365?
the passphrase is our dog's name
hasło jest zbyt krótkie
zapomniałem hasła do banku
mein Passwort ist abgelaufen
la contraseña es muy larga
le mot de passe est trop court
heslo je špatné
我忘记密码了
密码是什么？
パスワードを忘れました
비밀번호를 잊어버렸어요
Anna prefers light.kitchen_2 at 40%
version 1.2.3-beta.4 was released
The fix is in commit 4d1dfdb7c0ffee00deadbeef1234567890abcdef.
the md5 checksum is 5d41402abc4b2a76b9719d911017c592
sha256: 2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824
Ticket 550e8400-e29b-41d4-a716-446655440000 is closed.
MAC 00:1A:2B:3C:4D:5E and IP 192.168.1.20
open report_final_v2_2024-03-01.pdf
My phone number is +48 600 700 800
IBAN PL61109010140000071219812874
ISBN 978-3-16-148410-0
Tracking number 1Z999AA10123456784
https://www.youtube.com/watch?v=dQw4w9WgXcQ
https://docs.example.org/document/d/1A2b3C4d5E6f7G8h9I0jKlMnOpQrStUvWxYz1234567890AB/edit
The logo starts with iVBORw0KGgo in base64
donaudampfschifffahrtsgesellschaftskapitaen
getUserByIdAndOrganisationHandlerFactory2
Write to bob@example.com about the picnic
http://localhost:3000/@scope/package
the recovery took 6 weeks after surgery and then she started walking again every single day near home
My name is spelled S T E P H A N I E and I like it
""".strip().splitlines()


@pytest.mark.parametrize("sentence", SPOKEN_OF)
def test_what_is_said_about_secrets_or_only_looks_random_is_left_alone(sentence):
    assert redacted(sentence) == sentence


GITHUB = "gh" + "p_" + "v1cq4HjHQaO0IefjDed5JsfPfKim3vAK1Uds"


@pytest.mark.parametrize(
    "hidden",
    [
        GITHUB[:9] + "\u200b" + GITHUB[9:],
        "\u2060".join(GITHUB),
        " ".join(GITHUB),
        GITHUB[:20] + "\n" + GITHUB[20:],
        GITHUB[:20] + "\\\r\n    " + GITHUB[20:],
        "".join(chr(ord(c) + 0xFEE0) for c in GITHUB),
        GITHUB[:9] + "\u0441" + GITHUB[9:],
    ],
    ids=["zero width", "between all", "spelled out", "two lines", "continued line", "full width", "look-alike"],
)
def test_a_hidden_key_is_taken_out_from_its_first_to_its_last_character(hidden):
    assert redacted(f"the token is {hidden} and that is all") == "the token is [secret: github] and that is all"


def test_a_long_password_is_taken_out_to_its_end():
    value = "x1Y2-" * 60
    assert redacted(f"the password is {value}z9 ok") == "the password is [secret: password] ok"


def test_base64_of_a_key_is_a_secret():
    encoded = "QUtJQVhKVFlERlVJ" + "V0FBTkVTUUc="
    assert redacted(f"look at {encoded} please") == "look at [secret: aws] please"


def test_a_secret_says_where_it_is_and_what_but_not_the_text():
    assert secrets(f"use {GITHUB} now") == (Secret("github", 4, 4 + len(GITHUB)),)


def test_secrets_come_in_order_and_apart():
    found = secrets(f"my PIN is 4821, my token {GITHUB}, and password: s3cr3t" + "-Pa55")
    assert [secret.rule for secret in found] == ["code", "github", "password"]
    assert all(one.end <= other.start for one, other in pairwise(found))


@pytest.mark.parametrize(("sentence", "value"), TOLD)
def test_what_was_redacted_holds_no_secret_any_more(sentence, value):
    once = redacted(sentence.format(value))
    assert redacted(once) == once


@given(st.text(max_size=300))
def test_any_text_is_read_and_what_is_no_secret_is_kept(text):
    found = secrets(text)
    assert all(0 <= secret.start < secret.end <= len(text) for secret in found)
    assert all(one.end <= other.start for one, other in pairwise(found))
    assert bool(found) or redacted(text) == text


_PIECES = st.sampled_from(
    ["password", " is ", ": ", "=", "hasło", "密码", "是", "x1Y2", "-----BEGIN PRIVATE KEY-----", "://", "@", "\n", " ",
     "\u200b", "a b c d e f g h i", "4111", "1111 ", "token", "eyJ", ".", "'", '"', "ﬁ", "е", "İ", "seed", "ghp_",
     "backup codes", "\ufdfa"]
)  # fmt: skip


@given(st.lists(_PIECES, max_size=40).map("".join))
def test_texts_made_of_key_words_and_signs_are_read_too(text):
    assert all(0 <= secret.start < secret.end <= len(text) for secret in secrets(text))


@given(st.text(st.characters(categories=["Ll", "Zs"], max_codepoint=127), max_size=40), st.integers(0, 10**6))
def test_a_key_is_found_whatever_stands_around_it(around, seed):
    key = "gh" + "p_" + "".join(random.Random(seed).choices(_ALPHABETS["A"], k=36))
    assert key[4:] not in redacted(f"{around} {key} {around}")


LARGE = 65_536
HEAVY = {
    "one letter": "a",
    "blanks": " ",
    "equals": "=",
    "quotes": "\"'",
    "brackets": '("',
    "lines": "\n",
    "digits": "4 ",
    "key word": "password ",
    "key word and verb": "password is ",
    "seed": "seed abandon ",
    "marks": "sk-",
    "token": "eyJ.",
    "address": "http://a:b@",
    "block": "-----BEGIN PRIVATE KEY-----",
    "zero width": "a\u200b",
    "spelled": "a b ",
    "sentence": "\ufdfa",
    "accents": "e\u0301\u0301",
    "version": "1.1a",
    "signs": "password a!!!!!!!!!!!!",
}


@pytest.mark.parametrize("name", HEAVY)
def test_time_grows_with_the_text_and_not_faster(name):
    def cost(size: int) -> float:
        text = (HEAVY[name] * size)[:size]
        began = time.process_time()
        secrets(text)
        return time.process_time() - began

    secrets(f"token {GITHUB}")
    # Generous, because other processes share the cores; quadratic time would be a thousand times more.
    assert min(cost(LARGE) for _ in range(3)) < 0.5


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        ((*PASSWORDS, *PHRASES), (*ALWAYS, *ALWAYS_BEYOND_ASCII)),
        ((*CODES, *KEYS, *LISTS), (*ALWAYS, *ALWAYS_BEYOND_ASCII, *WITH_DIGIT, *WITH_DIGIT_BEYOND_ASCII)),
    ],
    ids=["plain words may follow", "a digit is needed"],
)
def test_the_first_look_knows_a_part_of_every_key_word(words, parts):
    assert [word for word in words if not any(part in word for part in parts)] == []


@pytest.mark.parametrize(("sentence", "value"), TOLD)
def test_the_first_look_lets_no_secret_through(sentence, value):
    assert could_hold_secret(sentence.format(value))


def test_ordinary_sentences_load_neither_the_rules_nor_the_engine():
    code = (
        "import sys; from memoranda.capture.secrets import secrets;"
        "secrets('Anna prefers short answers.'); secrets('We met at 10:30 on 2024-05-01, it was my 3rd visit.');"
        "secrets('Zażółć gęślą jaźń'); print('memoranda.capture.secrets.finding' in sys.modules, 're2' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert ran.stdout.split() == ["False", "False"]
