"""Secrets are taken out, what only looks like one stays, and no text takes long."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coffer.core.redact import kinds, redact
from coffer.core.secret_forms import PATTERNS

# Invented, and put together here so that no scanner takes this file for a leak.
HEX = "9f86d081884c7d659a2feaa0c55ad015"
MIXED = "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY"
LONG = MIXED + "z2A4c6E8g0I2k4M6o8Q0s2U4w6Y8"

SECRETS = (
    # kind, what goes, before, after
    ("anthropic key", "sk-ant-" + "api03-" + LONG, "key: ", " end"),
    ("openai key", "sk-" + "proj-" + LONG, "", ""),
    ("openai key", "sk-" + MIXED, "use ", "."),
    ("openai key", "sk-" + "or-v1-" + HEX * 2, "", ""),
    ("aws key", "AKIA" + "IOSFODNN7EXAMPLE", "id ", " "),
    ("aws key", "ASIA" + "IOSFODNN7EXAMPLE", "(", ")"),
    ("aws key", "ABSK" + "QmVkcm9ja0FQSUtleS" + "aB3d" * 24, "", ""),
    ("github token", "ghp_" + MIXED + "ab12", "", "\n"),
    ("github token", "gho_" + MIXED + "ab12", "", ""),
    ("github token", "ghs_" + MIXED + "ab12", "https://x-access-token@", ""),
    ("github token", "github_pat_" + "11ABCDEFG0aBcDeFgHiJkL_" + LONG, "", ""),
    ("gitlab token", "glpat-" + "aB3dE5fG7hJ9kL1mN3pQ", "", ""),
    ("slack token", "xoxb-" + "123456789012-1234567890123-" + MIXED, "", ""),
    ("slack token", "xapp-" + "1-A0123-1234567890-" + HEX, "", ""),
    ("slack webhook", "T01234567/B01234567/" + "aB3dE5fG7hJ9kL1mN3pQ5rS7", "https://hooks.slack.com/services/", ""),
    ("discord webhook", "123456789012345678/" + LONG, "https://discord.com/api/webhooks/", ""),
    ("stripe key", "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc", "", ""),
    ("stripe key", "rk_test_" + "4eC39HqLyjWDarjtT1zdp7dc", "", ""),
    ("webhook secret", "whsec_" + MIXED, "", ""),
    ("google key", "AIza" + "SyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q", "?key=", "&x=1"),
    ("google key", "ya29." + LONG, "", ""),
    ("google key", "GOCSPX-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9v", "", ""),
    ("azure secret", MIXED * 2 + "AB==", "AccountName=me;AccountKey=", ";EndpointSuffix=core.windows.net"),
    ("azure secret", "aB3%2F" + LONG + "%3D", "?sv=2024&sig=", "&se=1"),
    ("azure secret", "aB38Q~" + MIXED + "z", "", ""),
    ("azure secret", (MIXED * 2)[:52] + "JQQJ99" + MIXED[:26], "", ""),
    ("twilio key", "SK" + HEX, "", ""),
    ("twilio key", "AC" + HEX, "", ""),
    ("sendgrid key", "SG." + "aB3dE5fG7hJ9kL1mN3pQ5r" + "." + LONG[:43], "", ""),
    ("mailgun key", "key-" + HEX, "", ""),
    ("mailchimp key", HEX + "-us14", "", ""),
    ("npm token", "npm_" + MIXED + "ab12", "//registry.npmjs.org/:_authToken=", ""),
    ("pypi token", "pypi-" + "AgEIcHlwaS5vcmc" + LONG, "", ""),
    ("hugging face token", "hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH", "", ""),
    ("memory service key", "mem0_" + MIXED, "", ""),
    ("memory service key", "m0-" + MIXED, "", ""),
    ("memory service key", "hsk-" + "a1b2c3d4e5f6", "", ""),
    ("memory service key", "brv_" + "a1b2c3d4e5f6", "", ""),
    ("vault token", "hvs." + LONG, "", ""),
    ("digitalocean token", "dop_v1_" + HEX * 2, "", ""),
    ("databricks token", "dapi" + HEX, "", ""),
    ("shopify token", "shpat_" + HEX, "", ""),
    ("telegram token", "123456789:AA" + "Fh0aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1", "", ""),
    ("age key", "AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7LQPZRY9X8GF2TVDW0S3JN54KH", "", ""),
    ("service key", "gsk_" + LONG, "", ""),
    ("service key", "dp.pt." + LONG, "", ""),
    ("service key", "ATATT3" + LONG, "", ""),
    ("service key", "glsa_" + MIXED + "_" + "1a2b3c4d", "", ""),
    ("jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0." + LONG, "", ""),
    ("authorization", "dXNlcjpwYXNz", "Authorization: Basic ", "\r\n"),
    ("authorization", "abcdef", '"Authorization": "Bearer ', '"'),
    ("bearer token", "f1e2d3c4b5a6f7e8", "sent Bearer ", " to it"),
    ("password in url", "hunter2", "postgres://app:", "@db.example.com:5432/app"),
    ("password in url", "p@ss:w0rd", "redis://:", "@cache:6379/0"),
    ("password in url", "tr0ub4dor", "mongodb+srv://me:", "@cluster0.mongodb.net"),
    ("password", "s3cr3tpw", "curl -u admin:", " https://example.com"),
    ("password", "hunter2", "password=", ""),
    ("password", "correcthorsebattery", "PASSWORD=", "\n"),
    ("password", "Tr0ub4dor&3", 'password: "', '"'),
    ("password", "hunter", "DB_PASSWORD='", "'"),
    ("password", "SuperSecret123!", "export PGPASSWORD=", ""),
    ("password", "s3cr3t!", "Server=db;User=sa;Password=", ";Encrypt=yes"),
    ("password", "hunter22", "mysql --password ", " app"),
    ("secret", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "aws_secret_access_key = ", "\n"),
    ("secret", "s3cr3t-value", "secret: ", ""),
    ("secret", HEX, "TWILIO_API_KEY=", ""),
    ("secret", HEX + HEX, 'client_secret": "', '"'),
    ("password", "hunter2", "my password is ", ", as ever"),
    ("secret", "ABCD1234EFGH", "the api key = ", ""),
    ("memory service key", "mem0_" + "abcdefghijklmnop", "", ""),
    ("token", "abcdef123456", "token=", "&next=1"),
    ("token", "a1b2c3d4e5", "the token: ", ", use it"),
    ("token", "a1b2c3d4e5", '{"accessToken":"', '"}'),
    ("random string", "wJalrXUtnFEMIxK7MDENG9bPxRfiCYzEXAM4LE", "it is ", " there"),
    ("random string", "q7f3k9z2m5x8w1v4t6r0p3n7j2h5g8d1", "", ""),
    ("random string", "dGhpcyBpcyBhIHNlY3JldCBrZXkgMTIzNDU2Nzg5MA", "", ""),
)  # fmt: skip

NO_SECRETS = (
    "the commit 0a60c5b1e9a5d2f3c4b5a69788796a5b4c3d2e1f broke it",
    "git show 0a60c5b:src/main.py",
    "uuid 123e4567-e89b-12d3-a456-426614174000 and 123E4567-E89B-12D3-A456-426614174000",
    "image@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "sha512-z1W5rXgVQfcd8dF2XK0pNlM3Rr0SkYhU4v7cJtq6bTmE9oLwPxAsGiHnBeDjKyQz8aFvC3uO5lI7tRwZx2mNbQ==",
    '"integrity": "sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8KuxyNlM3Rr0SkYhU4v7cJtq6bTmE9oLwP"',
    "github.com/pkg/errors v0.9.1 h1:FEBLx1zS214owpjy7qsBeixbURkuhQAwrK5UwLGTwt4=",
    "![pic](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4)",
    "/home/dev/Projects2024/MyApp/src/components/UserProfile3/index.tsx",
    "C:/Users/Dev01/AppData/Local/Programs/Python311/Lib/site-packages/x.py",
    "~/.claude/projects/-home-user-MyProject2-src/0b8a4f7e-1c2d-4e3f-9a8b-7c6d5e4f3a2b.jsonl",
    "/nix/store/0c4r9kxqhm1v8w7z5y3j2f6g1d8n4s7b-hello-2.12",
    "AbstractSingletonProxyFactoryBean2Implementation",
    "test_that_the_3rd_retry_of_the_HTTP2_client_is_not_counted_twice",
    "toolu_01A09q90qw90lq917835lq9 msg_01XFDUDYJgAACzvnptvVoYEL req_011CSHoEeqs5C35K2UUqR7Fy",
    "call_abcDEF123ghiJKL456mnoPQR chatcmpl-123",
    "_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl me@host",
    "0x52908400098527886E0F7030069857D2E4169EE7",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "-----BEGIN PUBLIC KEY-----",
    "https://example.com:8080/path@version?x=a@b",
    "git@github.com:owner/repo.git and ssh://git@host:22/owner/repo",
    "postgres://app:${DB_PASSWORD}@db/app, postgres://app:<password>@db/app",
    "password = os.environ['DB_PASSWORD']",
    "password=get_password(user), token=self.token, secret=settings.secret_key",
    "def login(user: str, password: str, token: string | None = None) -> bool:",
    "connect(password=password, token=access_token)",
    "The secret: practice every day. Do not print the token: truncate it.",
    "max_tokens=4096 and max_tokens: 128000, token_count: 5000",
    "The password is case-sensitive; the secret is out; the token is 4096 long; password: must-change",
    "tokenizer=fast; secretary: Robert",
    "TOKEN=$GITHUB_TOKEN and password: ${{ secrets.PASSWORD }} and token: <your-token>",
    "--token and --password options; --password-file /run/secrets/db",
    "use a bearer token authentication header",
    "Authorization: Bearer $TOKEN",
    "docker run -u 1000:1000 image; curl -s https://example.com",
    "from sklearn import sk-learn-compatible-estimators-everywhere",
    "mem0_client_config = load(); hf_model_name; brv_store",
    'Do not add "Co-Authored-By" lines to git commit messages.',
    "api_key: string; apiKey?: string; password: required",
    "key-value-store and monkey-patching",
    "claude-sonnet-4-5-20250929 claude-3-5-haiku-20241022",
    "2026-03-31T14:23:00.123456+00:00",
    "node-v20.11.1-linux-x64-musl.tar.xz",
    "src/assets/index-BxY7dK3fQ2.js",
    "pk_live_publishable",
    "hook-ba2a0ea3-20f7-4d2c-8104-838a7a780a9e and LA_kwDOTVIgYs8AAAACrOZHzA",
    "SECRET_KEY=sk-... pwd: osc7 PWD=/home/dev token: gho_****************",
)  # fmt: skip

BLOCKS = (
    "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n" + (LONG + "\n") * 8 + "-----END RSA PRIVATE KEY-----",
    "-----BEGIN OPENSSH PRIVATE KEY-----\r\n" + (LONG + "\r\n") * 8 + "-----END OPENSSH PRIVATE KEY-----",
    "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: GnuPG v2\n\n"
    + LONG + "\n=aB3d\n-----END PGP PRIVATE KEY BLOCK-----",
    "-----BEGIN PRIVATE KEY-----\\n" + LONG + "\\n" + LONG + "\\n-----END PRIVATE KEY-----\\n",
    "-----BEGIN EC PRIVATE KEY-----\n" + LONG + "\n" + LONG + "\n",
)  # fmt: skip


@pytest.mark.parametrize(("kind", "secret", "before", "after"), SECRETS, ids=lambda value: str(value)[:24])
def test_a_secret_goes_and_nothing_else(kind: str, secret: str, before: str, after: str) -> None:
    redacted = redact(before + secret + after)
    assert redacted.text == f"{before}[redacted: {kind}]{after}"
    assert redacted.found == (kind,)
    assert redact(redacted.text).text == redacted.text


def test_every_form_has_its_test() -> None:
    assert {pattern.kind for pattern in PATTERNS} <= {kind for kind, *_ in SECRETS}


@pytest.mark.parametrize("text", NO_SECRETS, ids=lambda text: text[:30])
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert redact(text).text == text


@pytest.mark.parametrize("block", BLOCKS, ids=lambda text: text[:30])
def test_a_private_key_goes_whole(block: str) -> None:
    text = redact(f"before (it).\n{block}\nAnd after, in plain words.").text
    assert LONG not in text
    assert text.startswith("before (it).\n[redacted: private key]")
    assert text.endswith("And after, in plain words.")
    assert redact(text).text == text


def test_kinds_are_counted() -> None:
    redacted = redact("password=hunter2 password=hunter3 token=abc123def")
    assert kinds(redacted.found) == {"password": 2, "token": 1}


PIECES = st.lists(
    st.one_of(
        st.sampled_from([secret for _, secret, *_ in SECRETS] + [before for _, _, before, _ in SECRETS]),
        st.sampled_from(["password", "=", ": ", " ", "\n", '"', "[redacted: token]", "@", "://", "-----", "."]),
        st.sampled_from(["]", "-", "PRIVATE KEY", "Bearer ", "a1"]),
        st.text(max_size=6),
    ),
    max_size=8,
).map("".join)  # fmt: skip


@given(PIECES)
def test_twice_is_once(text: str) -> None:
    once = redact(text)
    assert redact(once.text) == type(once)(once.text)


BAIT = (
    "a", "aB3", "-", "=", "/", "eyJ", "-eyJ", "eyJaaaaaaaa.", "://", "://a:", "://:@", "password=",
    'password="', "password: ", "-----BEGIN PRIVATE KEY-----", "-----BEGIN ", "-----END ", "--a-", "curl -u ",
    " -u a:", "Bearer ", "authorization: ", "sk-", "-sk-", "xoxb-", "AKIA", "SG.", "SG.aaaaaaaaaaaaaaaa.",
    "Q~", "aaaaaQ~", "JQQJ99", "1:AA", "[redacted: ", "token", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY ",
    "0123456789abcdef-", "\\n", "\n", "é", "_Z", "gls_", ".",
)  # fmt: skip


@pytest.mark.parametrize("bait", BAIT)
def test_bait_costs_no_more_than_its_length(bait: str) -> None:
    def seconds(size: int) -> float:
        text = bait * (size // len(bait))
        began = time.process_time()
        redact(text)
        return time.process_time() - began

    seconds(25_000)
    small, large = seconds(50_000), seconds(400_000)
    assert large < 30 * small + 0.5  # linear is 8, quadratic 64
