"""Secret-shaped text goes, everything that only looks like it stays.

The secrets are made here at run time, so that none stands in the repository.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rose import redact, shapes

HEX = "0123456789abcdef"
LOWER = string.ascii_lowercase + string.digits
UPPER = string.ascii_uppercase + string.digits
ALNUM = string.ascii_letters + string.digits
BASE64 = ALNUM + "+/"


def made(length: int, alphabet: str = ALNUM, seed: str = "") -> str:
    """Return text that looks random and is the same in every run."""
    chars = ""
    while len(chars) < length:
        digest = hashlib.sha256(f"{seed}{length}{alphabet}{len(chars)}".encode()).digest()
        chars += "".join(alphabet[byte % len(alphabet)] for byte in digest)
    return chars[:length]


def block(label: str, lines: int = 4) -> str:
    body = "\n".join(made(64, BASE64, str(line)) for line in range(lines))
    return f"-----BEGIN {label}-----\n{body}\n{made(20, BASE64)}==\n-----END {label}-----"


def encoded(value: dict[str, str]) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


JWT = ".".join((encoded({"alg": "HS256"}), encoded({"sub": made(20)}), made(43, ALNUM + "-_")))
AWS_SECRET = made(40, BASE64)

# name of the kind as detect-secrets has it, or our own: text and the secret in it
EXAMPLES = {
    "anthropic": ("key {}", f"sk-ant-api03-{made(95, ALNUM + '_-')}"),
    "openai project": ("key {}", f"sk-proj-{made(48)}"),
    "OpenAI Token": ("key {}", f"sk-{made(20)}T3BlbkFJ{made(20)}"),
    "any sk": ("see {}, please", f"sk-{made(32, HEX)}"),
    "dotted sk": ("api_key: {}", f"sk-sp-{made(18)}.{made(18, LOWER)}_XYZ-{made(10)}"),
    "key of digits and a dot": ("api_key: {}", f"50aaed{made(31, LOWER)}.{made(6)}"),
    "zhipu": (f"use {made(32, HEX)}.{{}} here", made(16)),
    "mem0": ("key {}", f"m0-{made(40)}"),
    "GitHub Token": ("{}", f"ghp_{made(36)}"),
    "github oauth": ("remote: {}", f"gho_{made(36)}"),
    "github fine-grained": ("{}", f"github_pat_{made(22)}_{made(59)}"),
    "GitLab Token": ("{}", f"glpat-{made(20)}"),
    "gitlab dotted": ("{}", f"glpat-{made(27)}.01.{made(9, LOWER)}"),
    "Slack Token": ("{}", f"xoxb-{made(12, '123456789')}-{made(12, '123456789')}-{made(24)}"),
    "slack app": ("{}", f"xapp-1-{made(11, UPPER)}-{made(13, '123456789')}-{made(64, HEX)}"),
    "slack webhook": (
        "https://hooks.slack.com/services/{}",
        f"T{made(8, UPPER)}/B{made(8, UPPER)}/{made(24)}",
    ),
    "AWS Access Key": ("id {}", f"AKIA{made(16, UPPER)}"),
    "aws session": ("{}", f"ASIA{made(16, UPPER)}"),
    "aws secret": ("aws_secret_access_key = {}", AWS_SECRET),
    "aws pair": (f"AKIA{made(16, UPPER)},{{}}\n", AWS_SECRET),
    "aws quoted": ("aws.config(key, '{}')", AWS_SECRET),
    "google": ("{}", f"AIza{made(35, ALNUM + '_-')}"),
    "google dotted": ("{}", f"AQ.Ab8RN6{made(43, ALNUM + '_-')}"),
    "google oauth": ("{}", f"ya29.{made(60, ALNUM + '_-')}"),
    "npm": ("{}", f"npm_{made(36)}"),
    "NPM tokens": ("//registry.example.org/:_authToken=npm_{}", made(36)),
    "npm uuid": (
        "//registry.example.org/:_authToken={}",
        "-".join(made(length, HEX) for length in (8, 4, 4, 4, 12)),
    ),
    "PyPI Token": ("{}", f"pypi-AgEIcHlwaS5vcmc{made(80, ALNUM + '_-')}"),
    "huggingface": ("{}", f"hf_{made(34)}"),
    "SendGrid API Key": ("{}", f"SG.{made(22)}.{made(43)}"),
    "Stripe Access Key": ("{}", f"sk_live_{made(24)}"),
    "stripe webhook": ("{}", f"whsec_{made(32)}"),
    "Twilio API Key": ("{}", f"SK{made(32, HEX)}"),
    "Square OAuth Secret": ("{}", f"sq0csp-{made(43, ALNUM + '_-')}"),
    "Mailchimp Access Key": ("{}", f"{made(32, HEX)}-us12"),
    "mailgun": ("{}", f"key-{made(32, HEX)}"),
    "Telegram Bot Token": ("1234567890:{}", made(35, ALNUM + "_-")),
    "Discord Bot Token": ("{}", f"M{made(23)}.{made(6)}.{made(27)}"),
    "discord webhook": ("https://discord.com/api/webhooks/123456789012345678/{}", made(68)),
    "Artifactory Credentials": ("{}", f"AKC{made(64)}"),
    "artifactory password": ("password {}", f"AP6{made(30)}"),
    "Azure Storage Account access key": ("AccountKey={};Endpoint", f"{made(86, BASE64)}=="),
    "azure client secret": ("id {}", f"{made(3)}8Q~{made(34)}"),
    "azure signature": ("?sv=2023&sig={}&se=1", f"{made(43)}%3D"),
    "IBM Cloud IAM Key": ('ibm_cloud_iam_key = "{}"', made(44, ALNUM + "_-")),
    "IBM COS HMAC Credentials": ('cos_hmac_secret_access_key = "{}"', made(48, HEX)),
    "Cloudant Credentials": ('cloudant_pw = "{}"', made(64, HEX)),
    "SoftLayer Credentials": ('softlayer_api_key = "{}"', made(64, LOWER)),
    "softlayer url": ("https://api.softlayer.com/soap/v3/{}", made(64, LOWER)),
    "JSON Web Token": ("{}", JWT),
    "Private Key": ("{}", block("RSA PRIVATE KEY")),
    "openssh key": ("{}", block("OPENSSH PRIVATE KEY")),
    "pgp key": ("{}", block("PGP PRIVATE KEY BLOCK")),
    "Basic Auth Credentials": ("https://bob:{}@example.org/x", "hunter2hunter2"),
    "database url": ("postgres://app:{}@db:5432/main", "s3cr3t.pass"),
    "password with an at sign": ("amqp://app:{}@mq/", "p@ss@w0rd12"),
    "token in a url": ("https://{}@github.com/x/y", made(40, HEX)),
    "export": ("export X_TOKEN={}", made(24)),
    "export without a telling name": ("export X={}", made(32)),
    "export quoted": ('export DB_PASSWORD="{}" && run', "hunter2!x"),
    "yaml": ("db:\n  password: {}\n", "hunter2"),
    "passphrase of words": ("password: {}", "correct-horse-battery-staple"),
    "Secret Keyword": ('api_key = "{}"', made(20)),
    "json": ('{{"client_secret": "{}"}}', made(24)),
    "json in json": ('{{\\"apiKey\\": \\"{}\\"}}', made(24)),
    "xml": ("<password>{}</password>", "hunter2x"),
    "camel case": ("const accessToken = '{}';", made(30)),
    "telling key": ("ENCRYPTION_KEY={}", made(32)),
    "other key": ("MIXPANEL_KEY={}", made(32)),
    "option": ("tool --api-token {} run", made(24)),
    "option with password": ("mysql --password {}", "hunter2x"),
    "curl": ("curl -s -u bob:{} https://example.org", "hunter2x"),
    "netrc": ("machine h login bob password {}", "hunter2x"),
    "authorization bearer": ("Authorization: Bearer {}", made(40)),
    "authorization basic": ("-H 'authorization: Basic {}'", made(27) + "="),
    "bearer": ("sent bearer {} to it", made(40)),
    "cookie": ("Cookie: sid={}; theme=dark", made(40)),
    "long value": ("token={}", made(3000)),
    "chinese": ("密码\uff1a{}", "hunter2x"),
    "after a quoted line end": ("first\\n{}", f"ghp_{made(36)}"),
    "url escaped": ("key%3D{}", f"sk-{made(32)}"),
    "coloured": ("\x1b[32m{}\x1b[0m", f"sk-ant-{made(40)}"),
    "inside a call": ("token=load(secret={})", made(24)),
}

INTACT = [
    'AUTH_TOKENS_TABLE="auth-tokens"',
    "    secrets: inherit",
    "secret: inherit",
    "Co-Authored-By: Claude <noreply@anthropic.com>",
    "12345678+someone@users.noreply.github.com",
    "commit 8f14e45fceea167a5a36dedd4bea2543d1e0a3b1",
    "session 550e8400-e29b-41d4-a716-446655440000",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "FROM python@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    '"integrity": "sha512-' + made(86, BASE64) + '=="',
    "golang.org/x/net v0.17.0 h1:" + made(43, BASE64) + "=",
    '"resolved": "https://registry.example.org/a/-/a-1.0.0.tgz#' + made(40, HEX) + '"',
    "content-hash = " + made(64, HEX),
    "routing.max_tokens: 800",
    "max_tokens=4096, next_token: 12345678",
    "token: ${{ secrets.GITHUB_TOKEN }}",
    "password: $DB_PASSWORD",
    "password = os.environ['DB_PASSWORD']",
    "token = self.config.token",
    "const apiKey = process.env.OPENAI_API_KEY;",
    "api_key=get_api_key(name)",
    "def login(username: str, password: str) -> Token:",
    "export const token: string",
    "export class CreateUsers1701234567 {",
    'password: "your-password-here"',
    "password: <password>",
    "password=********",
    "Password must be at least 8 characters",
    "postgres://postgres:postgres@localhost:5432/test",
    "https://user:${TOKEN}@example.org",
    "http://localhost:3000/@vite/client",
    "http://localhost:8080?mail=a@example.org",
    "git@github.com:owner/repository.git",
    "docker run -u 1000:1000 image",
    "Authorization: Bearer $TOKEN",
    "Bearer authentication is required",
    "token123 in `Authorization: Bearer token123`",
    "ghp_your_new_github_token",
    "task-management-of-large-repositories-2024",
    "PASSWORD_FILE=/run/secrets/db_password2",
    "-----BEGIN PRIVATE KEY----- and -----END PRIVATE KEY----- mark it",
    "public_key: " + made(44, BASE64),
    "telegraf ALL=(root) NOPASSWD: FAIL2BAN",
    "if token == other.token2: compass=north1",
    "-e API_KEY=abc123",
    "if (req.body.password === 'validPass') {",
    '"password": "testpass123"',
]


def leaks(secret: str, text: str) -> bool:
    """Tell whether any eight characters of the secret in a row are left."""
    width = min(8, len(secret))
    return any(secret[at : at + width] in text for at in range(len(secret) - width + 1))


@pytest.mark.parametrize(("text", "secret"), EXAMPLES.values(), ids=EXAMPLES)
def test_a_secret_leaves_nothing_behind(text, secret):
    redacted = redact.redact(text.format(secret))
    assert not leaks(secret, redacted), redacted
    assert "[redacted:" in redacted


@pytest.mark.parametrize(("text", "secret"), EXAMPLES.values(), ids=EXAMPLES)
def test_what_stands_around_a_secret_stays(text, secret):
    before, after = text.split("{}") if "{{" not in text else text.format("{}").split("{}", 1)
    redacted = redact.redact(f"first line\n{before.replace('{{', '{')}{secret}{after}\nlast line")
    assert redacted.startswith("first line\n")
    assert redacted.endswith("\nlast line")


@pytest.mark.parametrize("text", INTACT)
def test_what_is_no_secret_stays(text):
    assert redact.redact(text) == text
    assert not redact.holds_secret(text)


def test_each_kind_that_detect_secrets_knows_has_an_example():
    """Random looks alone are left out: they would take digests and commit ids."""
    pytest.importorskip("detect_secrets")
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

    left_out = {"Base64 High Entropy String", "Hex High Entropy String", "Public IP (ipv4)"}
    plugins = get_mapping_from_secret_type_to_class()
    missed = {
        name
        for name, plugin in plugins.items()
        if name not in left_out
        and not (name in EXAMPLES and list(plugin().analyze_string(_example(name))))
    }
    assert missed == set()


def _example(name: str) -> str:
    text, secret = EXAMPLES[name]
    return text.format(secret)


def test_a_key_block_goes_whole():
    text = f"cat id_rsa\n{block('EC PRIVATE KEY')}\nafter"
    assert redact.redact(text) == "cat id_rsa\n[redacted:private-key]\nafter"


def test_a_key_block_that_is_cut_goes_as_far_as_it_reaches():
    cut = block("PRIVATE KEY").rsplit("\n", 2)[0]
    assert redact.redact(f"{cut}\nThe file ends here.") == (
        "[redacted:private-key]\nThe file ends here."
    )


def test_a_key_block_on_one_line_goes():
    key = json.dumps({"private_key": block("PRIVATE KEY"), "type": "service_account"})
    assert not leaks(made(64, BASE64, "0"), redact.redact(key))
    assert json.loads(redact.redact(key))["type"] == "service_account"


def test_a_key_block_with_line_numbers_goes():
    numbered = "\n".join(f"{n:6}→{line}" for n, line in enumerate(block("PRIVATE KEY").split("\n")))
    assert not leaks(made(64, BASE64, "2"), redact.redact(numbered))


def test_an_encrypted_key_that_is_cut_goes():
    cut = block("RSA PRIVATE KEY").rsplit("\n", 2)[0]
    headers = f"Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,{made(32, HEX)}\n\n"
    assert redact.redact(cut.replace("-----\n", f"-----\n{headers}")) == "[redacted:private-key]"


@pytest.mark.parametrize("end", [f"\nPrivate-MAC: {made(40, HEX)}\n", "\n"], ids=["whole", "cut"])
def test_the_private_half_of_a_putty_key_goes(end):
    public = (
        f"PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nPublic-Lines: 1\n{made(64, BASE64)}\n"
    )
    private = f"Private-Lines: 2\n{made(64, BASE64, '1')}\n{made(64, BASE64, '2')}{end}"
    assert redact.redact(public + private) == f"{public}[redacted:private-key]\n"


def test_two_key_blocks_are_two_secrets():
    key = block("PRIVATE KEY")
    assert redact.redact(f"{key}\nbetween\n{key}") == (
        "[redacted:private-key]\nbetween\n[redacted:private-key]"
    )


def test_offsets_are_those_of_the_text():
    token = f"ghp_{made(36)}"
    assert redact.find(f"é {token} x") == [redact.Secret("github-token", 2, 2 + len(token))]


def test_overlapping_finds_are_one_secret():
    token = f"ghp_{made(36)}"
    assert redact.redact(f"API_TOKEN={token}") == "API_TOKEN=[redacted:github-token]"


FRAGMENTS = st.sampled_from(
    [
        *(text.format(secret) for text, secret in EXAMPLES.values()),
        *INTACT,
        *(secret for _, secret in EXAMPLES.values()),
        *("password: ", "token=", "Bearer ", "://a:", "@", '"', "'", "\n", " ", "-", "_", ".", ","),
        *("export X=", "[redacted:", "]", "key", "AKIA", "-----BEGIN PRIVATE KEY-----", "eyJ", "é"),
    ]
)


@settings(deadline=None, max_examples=300)
@given(fragments=st.lists(FRAGMENTS, max_size=6))
def test_a_second_redaction_changes_nothing(fragments):
    once = redact.redact("".join(fragments))
    assert redact.redact(once) == once


@settings(deadline=None)
@given(text=st.text(st.characters(), max_size=200))
def test_any_text_is_read(text):
    found = redact.find(text)
    assert all(0 <= secret.start < secret.end <= len(text) for secret in found)
    assert bool(found) == redact.holds_secret(text)


@pytest.mark.parametrize(
    "unit",
    [
        *("a", "eyJ", "eyJ-", "sk-", "sk-ant-aaaaaaaaaaaaaaaa.", "SG.", "AKIA", "MNO.", "xoxe.1"),
        *("://a:", "://:@", "0123456789:", "token=a(", "token='", "token=.", "password=x)"),
        *("aws key '", "curl -u ", "login a password ", "--a-", "export A=", "cookie: aaaa"),
        "-----BEGIN PRIVATE KEY-----" + " " * 39_000 + "-----END PRIVATE KEY-----",
        *("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "Private-MAC: a", "a" * 64),
    ],
)
def test_a_hostile_text_of_200_kilobytes_is_read_to_its_end(unit):
    """A pattern that backtracks over the whole text would not come back from this."""
    token = f"ghp_{made(36)}"
    text = unit * (200_000 // len(unit)) + "\n" + token
    assert redact.find(text)[-1].end == len(text)


def test_every_judgement_of_the_table_is_known():
    assert {shape.judgement for shape in shapes.table()} == set(redact._JUDGEMENTS)


def test_lessons_of_the_real_world_keep_their_text(shared):
    """Ten redactions in 900,000 characters, each of them a password in an example."""
    path = os.path.join(shared, "data", "selection", "telegraf", "lessons.jsonl")
    with open(path, encoding="utf-8") as file:
        bodies = [json.loads(line)["body"] for line in file]
    found = [secret for body in bodies for secret in redact.find(body)]
    assert len(found) <= 10
    assert {secret.kind for secret in found} <= {"password", "token", "url-password"}


def test_a_key_that_a_shell_escapes_is_still_one_secret():
    body = "MIIEowIBAAKCAQEA" + "x1Y2" * 12
    words = [
        "-----BEGIN\\ RSA\\ PRIVATE\\ KEY-----\\",
        body + "\\",
        "-----END\\ RSA\\ PRIVATE\\ KEY-----",
    ]
    assert body[:12] not in redact.redact("echo " + "\n".join(words) + " > k")


@pytest.mark.parametrize("part", range(7, 26, 3))
def test_what_a_mark_saves_brings_no_half_secret_into_the_beginning_of_a_text(part):
    long, half = "ghp_" + made(2_500), "glpat-" + made(20)
    text = f"{long}{' word' * 200}"[: 2_999 - part] + " " + half
    found = redact.beginning(text, 1_000)
    assert found.startswith("[redacted:")
    assert "glpat" not in found


def test_a_value_is_quoted_by_its_beginning_without_secrets():
    assert redact.quoted("it's") == repr("it's")
    assert redact.quoted("x" * 99, 5) == "'xxxxx'"
    assert made(20) not in redact.quoted("y" * 50 + " glpat-" + made(20))


@pytest.mark.parametrize("most", range(1, 60))
def test_the_beginning_of_a_text_cuts_no_secret_into_a_harmless_looking_part(most):
    secret = "ghp_" + made(36)
    found = redact.beginning(f"the key is {secret} and more", most)
    assert len(found) <= most
    assert secret[:6] not in found
    assert redact.beginning("the key is here", most) == "the key is here"[:most]


def test_a_shape_costs_nothing_until_one_of_its_hints_is_there():
    shapes._compiled.cache_clear()
    redact.redact("the tests need a database")
    assert shapes._compiled.cache_info().currsize == 0
