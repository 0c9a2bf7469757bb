"""The one table of what secrets look like; rose.redact reads it.

A row is a pattern whose last named group, or whole match, is the secret; hints, one of which must
stand in the text before the pattern is tried; and the name of the judgement that rose.redact makes
of each match. Every repetition is bounded, or starts where only one match can start, or cannot
fail once it is long, so the work is linear. A token takes in whatever letters follow it: what is
left begins no other token, so a second redaction changes nothing. Patterns begin with a literal
where they can and look back from there, five times faster than looking back at every character.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Literal

Judgement = Literal["sure", "token", "random", "dense", "credential", "login", "named", "exported"]


@dataclass(frozen=True, slots=True)
class Shape:
    """One row of the table; hints in lower case count in any case."""

    kind: str
    judgement: Judgement
    hints: tuple[str, ...]
    pattern: str
    any_case: bool

    def compiled(self) -> re.Pattern[str]:
        return _compiled(self.pattern)


@functools.cache
def table() -> tuple[Shape, ...]:
    """Return the rows, the most specific first."""
    return (
        *(
            _shape(kind, "token", beginning, _begin(beginning) + rf"[\w-]{{{least},}}" + _DOTTED)
            for kind, beginnings, least in _TOKENS
            for beginning in beginnings.split()
        ),
        *(_shape(*row) for row in _ROWS),
    )


def _shape(kind: str, judgement: Judgement, hints: str, pattern: str) -> Shape:
    return Shape(kind, judgement, tuple(hints.split()), pattern, "(?i" in pattern)


@functools.cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # Of the whole table few are ever tried in one run, and all of them take a tenth of a second.
    return re.compile(pattern, re.ASCII)


def _begin(literal: str) -> str:
    """Match a literal that begins a word, or follows an escaped line end, %xx or a colour code."""
    escaped = re.escape(literal)
    return (
        rf"{escaped}(?:(?<![A-Za-z0-9]{escaped})|(?<=\\[nrt]{escaped})"
        rf"|(?<=%[0-9A-Fa-f][0-9A-Fa-f]{escaped})"
        rf"|(?<=\[[0-9]m{escaped})|(?<=\[[0-9][0-9]m{escaped}))"
    )


# Dots inside belong to the token, a full stop after it does not.
_DOTTED = r"(?:\.[\w-]{2,})*"

# kind, literal beginnings, least number of further characters
_TOKENS = (
    ("anthropic-key", "sk-ant-", 8),
    ("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-or- sk-sp-", 16),
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", 20),
    ("gitlab-token", "glpat- gldt- glft- glsoat- glrt- glcbt- glimt- glptt- glagent- gloas-", 16),
    ("gitlab-token", "glffct- GR1348941", 16),
    ("slack-token", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs- xapp-", 8),
    ("google-key", "AIza GOCSPX- ya29. AQ.Ab", 20),
    ("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ whsec_", 16),
    ("square-token", "sq0csp- sq0atp- sq0idp-", 20),
    ("pypi-token", "pypi-AgE", 16),
    ("artifactory-token", "AKC", 10),
    ("age-key", "AGE-SECRET-KEY-1", 20),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", 20),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_", 16),
    ("vault-token", "hvs. hvb. hvr.", 16),
    ("linear-key", "lin_api_ lin_oauth_", 16),
    ("docker-token", "dckr_pat_ dckr_oat_", 16),
    ("grafana-token", "glsa_ glc_", 20),
    ("sentry-token", "sntrys_ sntryu_", 16),
    ("atlassian-token", "ATATT3 ATCTT3", 16),
    ("supabase-key", "sb_secret_ sbp_", 16),
    ("langsmith-key", "lsv2_pt_ lsv2_sk_", 16),
    ("notion-token", "ntn_", 20),
    ("npm-token", "npm_", 30),
    ("huggingface-token", "hf_", 30),
    ("databricks-token", "dapi", 32),
    ("vendor-key", "nvapi- tvly- pplx- gsk_ xai- pcsk_ PMAK- NRAK- HRKU-", 16),
    ("vendor-key", "rubygems_ pscale_tkn_ pscale_pw_ figd_ CCIPAT_ retaindb_", 16),
)

_CHOSEN = r"(?P<word>p(?:assword|asswd|assphrase|asswort|ass|wd|w)|kennwort|contrase[nñ]a|senha)"
_ABROAD = r"(?P<word>пароль|密码|密碼|口令|パスワード|비밀번호)"
_GIVEN = r"(?P<word>key|secret|token|credentials?|(?<=[\s/:])_auth|x-amz-(?:signature|credential))"
_SUFFIX = r"(?:_?(?:[0-9]{1,2}|base(?:64)?|prod(?:uction)?|dev|staging|test|live|value|hex|b64))?"
_ASSIGN = (
    r"(?:\\{0,3}[\"'`])?\]?[ \t]{0,20}(?::=|=>|={1,3}|!={1,2}|[:=>]|\uff1a|\uff1d)[ \t]{0,20}@?"
)
LONGEST_BARE = 512
_VALUE = (
    r"(?:(?P<quote>\\{0,3}[\"'`])(?P<quoted>(?:(?!(?P=quote))[^\r\n]){1,2048})(?P=quote)"
    r"|(?P<bare>[^\s\"'`,;<>|&\\)\]}][^\s\"'`,;<>|&\\]{0,511}(?<![)\]}.,:!?])))"
)

# kind, judgement, hints, pattern
_ROWS: tuple[tuple[str, Judgement, str, str], ...] = (
    ("sk-key", "random", "sk-", _begin("sk-") + r"[\w-]{16,}" + _DOTTED),
    ("mem0-key", "random", "m0-", _begin("m0-") + r"[\w-]{16,}"),
    ("mem0-key", "random", "mem0_", _begin("mem0_") + r"[\w-]{16,}"),
    (
        *("aws-key", "sure", "AKIA ASIA ABIA ACCA A3T"),
        r"A(?:3T[A-Z0-9]|KIA|SIA|BIA|CCA)(?<![A-Z0-9]....)[A-Z0-9]{16}\w*",
    ),
    (
        *("aws-secret", "sure", "AKIA ASIA"),
        r"A[KS]IA[A-Z0-9]{16}[\s,:;\"'|]{1,9}(?P<key>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])",
    ),
    (
        *("aws-secret", "sure", "aws"),
        r"(?i:aws.{0,20}?(?:key|pwd|pw|pass|token).{0,20}?)['\"](?P<key>[A-Za-z0-9/+]{40})['\"]",
    ),
    (
        *("jwt", "sure", "eyJ"),
        _begin("eyJ") + r"[\w=-]{8,400}(?:\.{1,2}[\w=-]{4,}){1,4}",
    ),
    ("sendgrid-key", "sure", "SG.", _begin("SG.") + r"[\w-]{16,}\.[\w-]{16,}"),
    ("twilio-key", "random", "AC SK", r"(?:AC|SK)(?<![A-Za-z0-9]..)[0-9a-z]{32}\w*"),
    ("mailchimp-key", "random", "-us", r"(?<![0-9a-z])[0-9a-z]{32}-us[0-9]\w*"),
    ("mailgun-key", "sure", "key-", _begin("key-") + r"[0-9a-f]{32}\w*"),
    (
        *("artifactory-token", "random", "AP"),
        r"AP(?<![^\s=:\"'\\]AP)[0-9A-F][A-Za-z0-9]{8}\w*",
    ),
    ("telegram-token", "random", ":", r":(?<=[0-9]{8}:)(?P<key>[\w-]{35,})"),
    (
        *("discord-token", "sure", "."),
        r"[MNO](?<![A-Za-z0-9].)[\w-]{23,25}\.[\w-]{6}\.[\w-]{27,}",
    ),
    ("zhipu-key", "random", ".", r"\.(?<=[0-9a-f]{32}\.)(?P<key>[A-Za-z0-9]{16}\w*)"),
    ("terraform-token", "sure", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{40,}"),
    ("azure-secret", "sure", "8Q~", r"(?<![A-Za-z0-9])[\w~.]{3}8Q~[\w~.-]{31,}"),
    (
        *("azure-key", "sure", "accountkey= sharedaccesskey="),
        r"(?i:AccountKey|SharedAccessKey)=(?P<key>[A-Za-z0-9+/]{20,}={0,2})",
    ),
    ("azure-signature", "sure", "sig=", r"[?&]sig=(?P<key>[\w%+/-]{20,}={0,2})"),
    (
        *("slack-webhook", "token", "hooks.slack.com"),
        r"hooks\.slack\.com/[a-z]{1,20}/(?P<path>[\w/+-]{16,})",
    ),
    (
        *("discord-webhook", "token", "/api/webhooks/"),
        r"/api/webhooks/[0-9]{5,25}/(?P<path>[\w-]{20,})",
    ),
    (
        *("softlayer-key", "sure", "softlayer.com"),
        r"(?i:softlayer\.com/soap/v3(?:\.1)?/(?P<path>[a-z0-9]{64}\w*))",
    ),
    (
        *("url-password", "login", "://"),
        (
            r"://(?P<user>[^\s/:@\"'`<>]{0,256}):"
            r"(?P<password>(?![0-9]{1,5}[/?#,;)])[^\s\"'`<>/]{1,256})@"
        ),
    ),
    ("url-token", "random", "://", r"://(?P<key>[\w-]{20,256})@"),
    (
        *("password", "login", "curl"),
        (
            r"\bcurl\b[^\r\n]{0,200}?[ \t](?:-u|--user)[ =]?[\"']?"
            r"(?P<user>[^\s:\"'/]{1,64}):(?P<password>[^\s\"']{1,256})"
        ),
    ),
    (
        *("password", "login", "login"),
        r"\blogin\s{1,9}(?P<user>\S{1,99})\s{1,9}password\s{1,9}(?P<password>\S{1,256})",
    ),
    (
        *("authorization", "credential", "authorization"),
        (
            r"(?i:authorization)\\{0,3}[\"'`]?[ \t]?[:=,][ \t]{0,9}\\{0,3}[\"'`]?"
            r"(?:[A-Za-z]{3,12}[ \t]{1,9})?(?P<key>[\w.~+/=-]{8,})"
        ),
    ),
    ("bearer-token", "random", "bearer", r"(?i:bearer)(?:[ \t]{1,9}|%20)(?P<key>[\w.~+/=-]{8,})"),
    (
        *("cookie", "dense", "cookie"),
        r"(?i:cookie)[\"']?:[ \t]?[\"']?(?P<value>[^\r\n\"']{16,4096})",
    ),
    (
        *("password", "named", "pass pwd pw kennwort contrase senha"),
        rf"(?i:{_CHOSEN}{_SUFFIX}){_ASSIGN}{_VALUE}",
    ),
    (
        *("password", "named", "пароль 密 口令 パスワード 비밀번호"),
        rf"(?i:{_ABROAD}){_ASSIGN}{_VALUE}",
    ),
    (
        *("token", "named", "key token secret credential _auth signature"),
        rf"(?i:{_GIVEN}{_SUFFIX}){_ASSIGN}{_VALUE}",
    ),
    (
        *("token", "named", "--"),
        rf"--[A-Za-z-]{{0,40}}?(?i:(?P<word>key|secret|token|pass(?:word)?))[ \t]{{1,9}}{_VALUE}",
    ),
    (
        *("exported", "exported", "export setx ENV"),
        (
            r"\b(?:export[ \t]{1,9}[A-Za-z_]\w{0,80}=|(?:setx|ENV)[ \t]{1,9}[A-Za-z_]\w{0,80}[= ])"
            rf"{_VALUE}"
        ),
    ),
)
