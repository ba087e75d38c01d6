"""Forms of secrets: what known vendors issue, and what is a secret wherever it stands.

Each row is a form of its vendor's own documentation or of a public scanner of secrets; each has a test.
Repeats are bounded, so that a text is read in time linear in its length.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from coffer.core.regex import regex


@dataclass(frozen=True, slots=True)
class Pattern:
    """A form of secret. hints: one of them stands in every such secret, in lower case.

    The group `secret` goes, or all of it without one. check: whether a find is a secret after all.
    """

    kind: str
    hints: tuple[str, ...]
    form: re.Pattern[str]
    check: Callable[[str], bool] = lambda _: True


_START = r"(?<![A-Za-z0-9])"


def _vendor(kind: str, hints: str, form: str, check: Callable[[str], bool] = lambda _: True) -> Pattern:
    return Pattern(kind, tuple(hints.lower().split()), regex(_START + form), check)


_PLACEHOLDER = regex(
    r"[$<{%*]|\\?\$\(|\[?redacted|x{3,}|\.{3}|(?:your|my|the|some|example|changeme|placeholder|dummy)[-_ ]?"
    r"|process\.|os\.|env[.\[(]",
    re.IGNORECASE,
)


def stands_in(value: str) -> bool:
    """Whether a value stands for a secret without being one: `$TOKEN`, `<password>`, `your-key`."""
    return _PLACEHOLDER.match(value) is not None


def _is_real(value: str) -> bool:
    return not stands_in(value)


def has_digit(text: str) -> bool:
    """Whether a token is more than words: it has a digit."""
    return any(char.isdigit() for char in text)


def _dense(text: str) -> bool:
    """Whether what follows a prefix is one random run: digits in it, or too long for a word."""
    run = max(re.split(r"[_.-]", text), key=len)
    return len(run) >= 16 or (len(run) >= 8 and has_digit(run))


PATTERNS = (
    _vendor("anthropic key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{16,300}"),
    _vendor("openai key", "sk-", r"sk-[A-Za-z0-9_-]{20,300}", has_digit),
    _vendor("aws key", "akia asia aroa aida agpa aipa anpa anva abia acca",
            r"(?:AKIA|ASIA|AROA|AIDA|AGPA|AIPA|ANPA|ANVA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _vendor("aws key", "absk", r"ABSK[A-Za-z0-9+/]{100,300}={0,2}"),
    _vendor("github token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,255}"),
    _vendor("github token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9_]{30,255}"),
    _vendor("gitlab token", "gl",
            r"gl(?:pat|dt|cbt|ptt|ft|imt|agent|oas|rt|soat|ffct|rtr)-[A-Za-z0-9_.-]{16,300}", has_digit),
    _vendor("slack token", "xox xapp-", r"(?:xox[abdeoprs](?:\.xox[a-z])?|xapp)-[A-Za-z0-9-]{10,300}", has_digit),
    _vendor("slack webhook", "hooks.slack.com",
            r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9+/_]{20,120})"),
    _vendor("discord webhook", "/api/webhooks/",
            r"discord(?:app)?\.com/api/webhooks/(?P<secret>\d{10,25}/[A-Za-z0-9_-]{20,120})"),
    _vendor("stripe key", "sk_ rk_", r"[sr]k_(?:live|test|org)_[A-Za-z0-9_]{10,250}"),
    _vendor("webhook secret", "whsec_", r"whsec_[A-Za-z0-9+/=_-]{16,120}"),
    _vendor("google key", "aiza", r"AIza[A-Za-z0-9_-]{35}"),
    _vendor("google key", "ya29. gocspx- 1//0", r"(?:ya29\.|GOCSPX-|1//0)[A-Za-z0-9_-]{20,300}"),
    _vendor("azure secret", "accountkey= sharedaccesskey=",
            r"(?i:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/=]{40,120})"),
    _vendor("azure secret", "sig=", r"(?i:sig)=(?P<secret>[A-Za-z0-9%+/=_-]{32,200})"),
    Pattern("azure secret", ("q~",), regex(
        r"(?<![A-Za-z0-9_~.-])[A-Za-z0-9_~.-]{3}\dQ~[A-Za-z0-9_~.-]{31,34}(?![A-Za-z0-9_~.-])")),
    Pattern("azure secret", ("jqqj99",), regex(r"(?<![A-Za-z0-9])[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{26}")),
    _vendor("twilio key", "ac sk", r"(?:AC|SK)[0-9a-f]{32}(?![A-Za-z0-9])"),
    _vendor("sendgrid key", "sg.", r"SG\.[A-Za-z0-9_-]{16,40}\.[A-Za-z0-9_-]{16,80}"),
    _vendor("mailgun key", "key-", r"key-[0-9a-f]{32}(?![A-Za-z0-9])"),
    _vendor("mailchimp key", "-us", r"[0-9a-f]{32}-us\d{1,2}(?![A-Za-z0-9])"),
    _vendor("npm token", "npm_", r"npm_[A-Za-z0-9]{30,60}"),
    _vendor("pypi token", "pypi-", r"pypi-[A-Za-z0-9_-]{40,300}"),
    _vendor("hugging face token", "hf_ api_org_", r"(?:hf|api_org)_[A-Za-z0-9]{20,60}", _dense),
    _vendor("memory service key", "mem0_ hsk- brv_ m0-", r"(?:mem0_|m0-|hsk-|brv_)[A-Za-z0-9_-]{8,200}", _dense),
    _vendor("vault token", "hvs. hvb. hvr.", r"hv[sbr]\.[A-Za-z0-9_-]{20,300}"),
    _vendor("digitalocean token", "do", r"do[opr]_v1_[a-f0-9]{64}"),
    _vendor("databricks token", "dapi", r"dapi[0-9a-f]{32}(?:-\d)?"),
    _vendor("shopify token", "shp", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    _vendor("telegram token", ":aa", r"\d{8,10}:AA[A-Za-z0-9_-]{32,36}(?![A-Za-z0-9_-])"),
    _vendor("age key", "age-secret-key-1", r"AGE-SECRET-KEY-1[A-Z0-9]{40,70}"),
    _vendor("service key",
            "gsk_ xai- r8_ pplx- sbp_ sb_secret_ lin_api_ figd_ ntn_ secret_ dckr_pat_ pmak-"
            " glsa_ glc_ nrak- hrku- tvly- csk- nfp_"
            " rnd_ lsv2_ pscale_ doppler dp.pt. atatt3 sntrys_ sntryu_ e2b_ fc- jina_ nvapi- tgp_v1_ pcsk_ exa_ ctx7sk",
            r"(?:gsk_|xai-|r8_|pplx-|sbp_|sb_secret_|lin_api_|figd_|ntn_|secret_|dckr_pat_|PMAK-|gls?[ac]_|NRAK-|HRKU-|tvly-|csk-|nfp_"
            r"|rnd_|lsv2_(?:pt|sk)_|pscale_(?:tkn|pw|oauth)_|dp\.pt\.|ATATT3|sntry[su]_|e2b_|fc-|jina_|nvapi-|tgp_v1_|pcsk_|ctx7sk-?)"
            r"[A-Za-z0-9_=-]{20,300}", _dense),
    Pattern("jwt", ("eyj",), regex(
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,4000}+\.[A-Za-z0-9_-]{8,20000}+(?:\.[A-Za-z0-9_-]{0,4000}+)?")),
    Pattern("authorization", ("authorization",), regex(
        r"(?i:authorization)[\"']?\s{0,3}[:=]\s{0,3}[\"']?(?i:bearer|basic|token|bot|apikey|digest)\s{1,3}"
        r"(?P<secret>(?!\[redacted: )[A-Za-z0-9._~+/=:-]{6,4000})")),
    Pattern("bearer token", ("bearer",), regex(
        r"(?<![A-Za-z])(?i:bearer)\s{1,3}(?P<secret>[A-Za-z0-9._~+/=-]{12,4000})"), has_digit),
    Pattern("password in url", ("://",), regex(
        r"://[^\s/:@\"'<>?#\[\]]{0,200}:(?P<secret>(?!\[redacted: )[^\s/\"'<>?#]{1,256})@(?=[^\s@])"),
        _is_real),
    Pattern("password", ("curl",), regex(
        r"(?<=\s)(?:-u|--user)[\s=]{1,2}[\"']?[^\s:\"']{1,64}:(?P<secret>(?!\[redacted: )[^\s\"']{4,200})"),
        lambda value: not (value.isdigit() or stands_in(value))),
)  # fmt: skip
"""Vendors in no order that matters but one: Anthropic's keys before OpenAI's, whose prefix they share."""
