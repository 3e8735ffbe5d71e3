"""Keys that say whose they are: by the letters they begin with, or by a mark inside.

Written down from what the services document about their keys. Not here: keys that are just random characters; they
are found by what stands beside them. Case does not matter, because a telephone writes the first letter large.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

from memoranda.capture.secrets.engine import any_of, compiled

_HEX = "[a-f0-9]"
_ALNUM = "[a-z0-9]"
_WORD = "[a-z0-9_-]"
_BASE64 = "[a-z0-9+/]"
_UUID = "[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}"

# A mark that is found more often than this is searched for in one go.
_FEW = 40
_SHORTEST_KEY = 14
# From here on, one pass for all marks is faster than one for each.
_LONG = 2_000
_RUN = re.compile(r"\S{0,4000}")


class Rule(NamedTuple):
    """One shape. It is looked for only where one of its marks is in the text; its first group is the secret.

    One that begins with its mark may also be asked about a place, which costs less than a search through all of a text.
    """

    name: str
    marks: tuple[str, ...]
    pattern: str
    begins: bool = False
    after_letter: bool = True

    @property
    def compiled(self) -> Any:
        """Ready to search with."""
        return compiled(self.pattern)

    def places(self, text: str, low: str) -> Iterator[tuple[int, int]]:
        """Where the secrets are. `low` is the text in small letters."""
        if not self.begins or sum(map(low.count, self.marks)) > _FEW:
            yield from (found.span(1) for found in self.compiled.finditer(text))
            return
        for mark in self.marks:
            at = low.find(mark)
            while at >= 0:
                found = self._at(text, at)
                if found:
                    yield at + found.start(1), at + found.end(1)
                at = low.find(mark, at + (found.end(1) if found else len(mark)))

    def _at(self, text: str, at: int) -> Any:
        if at and not self.after_letter and text[at - 1].isascii() and text[at - 1].isalnum():
            return None
        run = _RUN.match(text, at)
        return self.compiled.match(run[0]) if run and len(run[0]) >= _SHORTEST_KEY else None


# name, beginnings parted by blanks, the rest
_BEGINNINGS: tuple[tuple[str, str, str], ...] = (
    ("memoranda", "mem_", f"{_WORD}{{40,}}"),
    ("anthropic", "sk-ant-", f"{_WORD}{{20,}}"),
    ("openai", "sk-proj- sk-svcacct- sk-admin- sk-none-", f"{_WORD}{{20,}}"),
    ("openai", "sk- sess-", f"{_ALNUM}{{32,}}"),
    ("openrouter", "sk-or-v1- sk-or-", f"{_ALNUM}{{32,}}"),
    ("langfuse", "sk-lf-", _UUID),
    ("langsmith", "lsv2_pt_ lsv2_sk_ ls__", f"{_WORD}{{30,}}"),
    ("groq", "gsk_", f"{_ALNUM}{{40,}}"),
    ("perplexity", "pplx-", f"{_ALNUM}{{32,}}"),
    ("xai", "xai-", f"{_ALNUM}{{40,}}"),
    ("replicate", "r8_", f"{_ALNUM}{{30,}}"),
    ("hugging face", "hf_", f"{_ALNUM}{{30,}}"),
    ("hugging face", "api_org_", f"{_ALNUM}{{30,}}"),
    ("nvidia", "nvapi-", f"{_WORD}{{40,}}"),
    ("pinecone", "pcsk_", f"{_WORD}{{40,}}"),
    ("voyage", "pa-", f"{_WORD}{{40,}}"),
    ("tavily", "tvly-", f"{_WORD}{{20,}}"),
    ("firecrawl", "fc-", f"{_HEX}{{32,}}"),
    ("jina", "jina_", f"{_WORD}{{40,}}"),
    ("fireworks", "fw_", f"{_ALNUM}{{22,}}"),
    ("together", "tgp_v1_", f"{_WORD}{{40,}}"),
    ("cerebras", "csk-", f"{_ALNUM}{{40,}}"),
    ("anyscale", "esecret_", f"{_ALNUM}{{20,}}"),
    ("elevenlabs", "sk_", f"{_HEX}{{40,}}"),
    ("e2b", "e2b_", f"{_HEX}{{32,}}"),
    ("modal", "ak- as-", f"{_ALNUM}{{22}}"),
    ("wandb", "wandb_v1_", f"{_WORD}{{40,}}"),
    ("github", "ghp_ gho_ ghu_ ghs_ ghr_", f"{_ALNUM}{{30,}}"),
    ("github", "github_pat_", "[a-z0-9_]{36,}"),
    (
        "gitlab",
        "glpat- gldt- glft- glsoat- glrt- glrtr- glcbt- glptt- glimt- glagent- gloas- glffct- gitlab_session=",
        "[a-z0-9_.-]{18,}",
    ),
    ("gitlab", "gr1348941", f"{_WORD}{{20,}}"),
    ("bitbucket", "atbb", f"{_ALNUM}{{24,}}"),
    ("atlassian", "atatt3 atctt3 atott3", "[a-z0-9_=-]{60,}"),
    ("trello", "atta", f"{_HEX}{{60,}}"),
    ("sourcegraph", "sgp_ slk_", "[a-f0-9_]{40,}"),
    ("sonar", "squ_ sqp_ sqa_", f"{_ALNUM}{{40,}}"),
    ("circleci", "ccipat_ ccipprj_ cciprj_", "[a-z0-9_]{30,}"),
    ("buildkite", "bkua_ bkaj_ bkct_", f"{_ALNUM}{{40,}}"),
    ("harness", "pat. sat.", f"{_WORD}{{22}}\\.{_HEX}{{24}}\\.{_ALNUM}{{20}}"),
    ("artifactory", "akcp", f"{_ALNUM}{{60,}}"),
    ("artifactory", "cmvmdgtu", f"{_ALNUM}{{50,}}"),
    ("octopus", "api-", f"{_ALNUM}{{25,}}"),
    ("launchdarkly", "sdk- api- mob-", _UUID),
    ("slack", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxc- xoxd- xoxe- xoxe.xoxp- xoxe.xoxb- xapp-", "[a-z0-9%.-]{10,}"),
    ("stripe", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ pk_live_", f"{_ALNUM}{{10,}}"),
    ("webhook secret", "whsec_", "[a-z0-9+/=]{20,}"),
    ("square", "sq0atp- sq0csp- sq0idp-", f"{_WORD}{{22,}}"),
    ("square", "eaaa", f"{_WORD}{{60,}}"),
    ("facebook", "eaam eaac eaab eaag eaaf eaae eaad", f"{_ALNUM}{{40,}}"),
    ("instagram", "igqv igqw igaa", f"{_WORD}{{60,}}"),
    ("razorpay", "rzp_live_ rzp_test_", f"{_ALNUM}{{14,}}"),
    ("flutterwave", "flwseck_test- flwseck- flwpubk_test- flwpubk-", f"{_ALNUM}{{12,}}"),
    ("paystack", "sk_live_ sk_test_", f"{_ALNUM}{{40}}"),
    ("mollie", "live_ test_", f"{_ALNUM}{{30,}}"),
    ("gocardless", "live_ sandbox_", f"{_WORD}{{40}}"),
    ("lob", "live_pub_ test_pub_", f"{_HEX}{{30,}}"),
    ("plaid", "access-sandbox- access-development- access-production-", _UUID),
    ("easypost", "ezak eztk", f"{_ALNUM}{{54}}"),
    ("shippo", "shippo_live_ shippo_test_", f"{_HEX}{{40}}"),
    ("duffel", "duffel_live_ duffel_test_", "[a-z0-9_=-]{40,}"),
    ("paddle", "pdl_live_apikey_ pdl_sdbx_apikey_", f"{_WORD}{{30,}}"),
    ("polar", "polar_oat_ polar_pat_", f"{_ALNUM}{{30,}}"),
    ("paypal", "access_token$production$ access_token$sandbox$", "[a-z0-9$]{40,}"),
    ("aws", "akia asia abia acca", f"{_ALNUM}{{16}}"),
    ("aws", "absk", "[a-z0-9+/=]{100,}"),
    ("aws", "bedrock-api-key-", "[a-z0-9+/=]{40,}"),
    ("google", "aiza", f"{_WORD}{{35,}}"),
    ("google", "gocspx-", f"{_WORD}{{24,}}"),
    ("google", "ya29.", "[a-z0-9_.-]{20,}"),
    ("google", "1//0", f"{_WORD}{{30,}}"),
    ("alibaba", "ltai", f"{_ALNUM}{{12,}}"),
    ("tencent", "akid", f"{_ALNUM}{{32}}"),
    ("yandex", "aqvn", f"{_WORD}{{35,}}"),
    ("yandex", "ycaj yc", f"{_WORD}{{38}}"),
    ("yandex", "y0_", f"{_WORD}{{50,}}"),
    ("yandex", "t1.", f"{_WORD}{{30,}}=?\\.{_WORD}{{60,}}"),
    ("scaleway", "scw", f"{_ALNUM}{{17}}"),
    ("digitalocean", "dop_v1_ doo_v1_ dor_v1_", f"{_HEX}{{60,}}"),
    ("databricks", "dapi dkea dose", f"{_HEX}{{32}}(?:-[0-9])?"),
    ("shopify", "shpat_ shpca_ shppa_ shpss_ shprt_", f"{_HEX}{{32,}}"),
    ("hashicorp", "hvs. hvb. hvr.", f"{_WORD}{{20,}}"),
    ("vault", "s.", f"{_ALNUM}{{24}}"),
    ("doppler", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit. dp.said.", "[a-z0-9._-]{20,}"),
    ("infisical", "st.", f"{_HEX}{{24}}\\.{_HEX}{{32}}\\.{_HEX}{{32}}"),
    ("1password", "ops_eyj", "[a-z0-9+/=]{60,}"),
    ("1password", "a3-", f"{_ALNUM}{{6}}-(?:{_ALNUM}{{11}}|{_ALNUM}{{6}}-{_ALNUM}{{5}})(?:-{_ALNUM}{{5}}){{3}}"),
    ("linear", "lin_api_ lin_oauth_", f"{_ALNUM}{{32,}}"),
    ("notion", "ntn_ secret_", f"{_ALNUM}{{40,}}"),
    ("airtable", "pat", f"{_ALNUM}{{14}}\\.{_HEX}{{64}}"),
    ("asana", "0/ 1/ 2/", f"(?:[0-9]{{10,}}[/:])*[0-9]*:?{_HEX}{{32}}"),
    ("clickup", "pk_", f"[0-9]{{5,}}_{_ALNUM}{{32}}"),
    ("hubspot", "pat-na1- pat-na2- pat-eu1- pat-ap1-", _UUID),
    ("typeform", "tfp_", "[a-z0-9_.=-]{40,}"),
    ("contentful", "cfpat-", f"{_WORD}{{40,}}"),
    ("heroku", "hrku-", f"{_WORD}{{36,}}"),
    ("cloudflare", "v1.0-", f"{_HEX}{{24}}-{_HEX}{{100,}}"),
    ("new relic", "nrak- nrjs- nrii- nrra- nraa- nrbr-", f"{_WORD}{{19,}}"),
    ("datadog", "ddp_ ddapp_ ddapi_", f"{_ALNUM}{{30,}}"),
    ("grafana", "glsa_ glc_", "[a-z0-9+/_=]{32,}"),
    ("grafana", "eyjrijoi", f"{_BASE64}{{50,}}"),
    ("sentry", "sntrys_ sntryu_ sntrya_ sntryi_", "[a-z0-9+/=_-]{40,}"),
    ("dynatrace", "dt0c01. dt0s01. dt0s02. dt0s16.", f"{_ALNUM}{{8,}}\\.{_ALNUM}{{60,}}"),
    ("honeycomb", "hcaik_ hcxik_ hcamk_ hcxlk_", f"{_ALNUM}{{30,}}"),
    ("posthog", "phc_ phx_ phs_", f"{_ALNUM}{{40,}}"),
    ("postman", "pmak-", f"{_HEX}{{24}}-{_HEX}{{34}}"),
    ("readme", "rdme_", f"{_ALNUM}{{60,}}"),
    ("figma", "figd_ figo_ figu_", f"{_WORD}{{30,}}"),
    ("frame.io", "fio-u-", f"{_WORD}{{50,}}"),
    ("dropbox", "sl.", f"(?:u\\.)?{_WORD}{{60,}}"),
    ("fly.io", "fo1_ fm1a_ fm1r_ fm2_", f"{_BASE64}{{30,}}|(?:fo1_){_WORD}{{40,}}"),
    ("supabase", "sbp_ sb_secret_", f"{_WORD}{{20,}}"),
    ("planetscale", "pscale_tkn_ pscale_pw_ pscale_oauth_", "[a-z0-9_.=-]{30,}"),
    ("neon", "napi_", f"{_ALNUM}{{40,}}"),
    ("elastic", "essu_", "[a-z0-9+/=]{40,}"),
    ("prefect", "pnu_ pnb_", f"{_ALNUM}{{36}}"),
    ("pulumi", "pul-", f"{_HEX}{{40}}"),
    ("dbt", "dbtc_ dbtu_ dbts_", f"{_WORD}{{30,}}"),
    ("infracost", "ico-", f"{_ALNUM}{{32}}"),
    ("vercel", "vcp_ vci_ vca_ vcr_ vck_", f"{_ALNUM}{{24,}}"),
    ("netlify", "nfp_ nfo_ nfc_", f"{_ALNUM}{{30,}}"),
    ("render", "rnd_", f"{_ALNUM}{{20,}}"),
    ("scalingo", "tk-us-", f"{_WORD}{{40,}}"),
    ("tailscale", "tskey-", f"{_WORD}{{18,}}"),
    ("defined networking", "dnkey-", f"{_WORD}{{26,}}"),
    ("openshift", "sha256~", f"{_WORD}{{40,}}"),
    ("npm", "npm_", f"{_ALNUM}{{36,}}"),
    ("pypi", "pypi-ag", f"{_WORD}{{40,}}"),
    ("rubygems", "rubygems_", f"{_HEX}{{40,}}"),
    ("nuget", "oy2", f"{_ALNUM}{{43}}"),
    ("crates.io", "cio", f"{_ALNUM}{{32}}"),
    ("clojars", "clojars_", f"{_ALNUM}{{60}}"),
    ("docker", "dckr_pat_ dckr_oat_", f"{_WORD}{{24,}}"),
    ("packagist", "packagist_ut_ packagist_uu_ packagist_ort_ packagist_oru_ packagist_org_", f"{_HEX}{{60,}}"),
    ("terraform", "tfe-", f"{_ALNUM}{{30,}}"),
    ("mailgun", "key- pubkey-", f"{_HEX}{{32}}"),
    ("sendinblue", "xkeysib- xsmtpsib-", f"{_HEX}{{60,}}-{_ALNUM}{{16}}"),
    ("mailersend", "mlsn.", f"{_HEX}{{60,}}"),
    ("resend", "re_", f"{_ALNUM}{{8,}}_{_ALNUM}{{20,}}"),
    ("sendgrid", "sg.", "[a-z0-9=_-]{16,32}\\.[a-z0-9=_-]{16,}"),
    ("twilio", "ac sk", f"{_HEX}{{32}}"),
    ("discord", "mfa.", f"{_WORD}{{60,}}"),
    ("matrix", "syt_", "[a-z0-9_=-]{20,}"),
    ("pinterest", "pina_", f"{_ALNUM}{{32,}}"),
    ("twitch", "oauth:", f"{_ALNUM}{{30}}"),
    ("twitter", "aaaaaaaaaaaaaaaaaaaa", "[a-z0-9%]{60,}"),
    ("adobe", "p8e-", f"{_ALNUM}{{32}}"),
    ("ionic", "ion_", f"{_ALNUM}{{40,}}"),
    ("endor labs", "endr+", f"{_WORD}{{16,}}"),
    ("settlemint", "sm_pat_ sm_aat_ sm_sat_", f"{_ALNUM}{{16,}}"),
    ("beamer", "b_", "[a-z0-9=_-]{44}"),
    ("sumologic", "su", f"{_ALNUM}{{12}}"),
    ("brave", "bsa", f"{_WORD}{{24,}}"),
    ("age", "age-secret-key-1", f"{_ALNUM}{{50,}}"),
    ("nostr", "nsec1", f"{_ALNUM}{{58}}"),
    ("wallet", "xprv zprv yprv tprv", f"{_ALNUM}{{80,}}"),
    ("statsig", "secret-", f"{_ALNUM}{{40,}}"),
    ("jwt", "zxlk", f"{_BASE64}{{40,}}=*"),
)
# Two or three characters begin many things: these count only with a word such as "key" beside them.
_NEEDS_WORD = frozenset({"sumologic", "yandex", "brave", "vault", "modal", "voyage", "beamer", "asana", "scaleway"})

# Shapes with the mark inside, each with one group.
_SHAPES: tuple[Rule, ...] = (
    Rule("aws", ("a3t",), "(?i)\\b(a3t[a-z0-9][a-z0-9]{16})\\b"),
    Rule("azure", ("q~",), "(?i)([a-z0-9_~.-]{3}[0-9]q~[a-z0-9_~.-]{31,34})"),
    Rule("azure", ("azdo", "acog", "azfu", "azse", "asto", "apim", "aioa"),
         "(?i)\\b([a-z0-9+/]{40,}(?:azdo|acog|azfu|azse|asto|apim|aioa)[a-z0-9+/]{4,}={0,2})"),
    Rule("jwt", ("eyj",), "(?i)\\b(eyj[a-z0-9_-]{8,}\\.[a-z0-9_-]{8,}(?:\\.[a-z0-9_-]*){0,3})"),
    Rule("mapbox", ("pk.", "sk."), "(?i)\\b([ps]k\\.[a-z0-9_-]{40,}\\.[a-z0-9_-]{20,})"),
    Rule("terraform", (".atlasv1.",), "(?i)([a-z0-9]{14}\\.atlasv1\\.[a-z0-9=_-]{60,})"),
    Rule("telegram", (":a",), "(?i)(?:^|[^0-9])([0-9]{5,16}:a[a-z0-9_-]{34})"),
    Rule("facebook", ("|",), "(?i)\\b([0-9]{15,16}\\|[a-z0-9_-]{27,40})"),
    Rule("mailchimp", ("-us",), "(?i)\\b([a-f0-9]{32}-us[0-9]{1,2})\\b"),
    Rule("new relic", ("nral",), "(?i)\\b([a-f0-9]{36}nral)\\b"),
    Rule("rapidapi", ("msh",), "(?i)\\b([a-z0-9]{10}msh[a-z0-9]{15}p1[a-z0-9]{6}jsn[a-z0-9]{12})\\b"),
    Rule("maxmind", ("_mmk",), "(?i)\\b([a-z0-9]{6}_[a-z0-9]{29}_mmk)\\b"),
    Rule("slack", ("hooks.slack",),
         "(?i)(hooks\\.slack(?:-gov)?\\.com/(?:services|workflows|triggers)/[a-z0-9+_-]{8,}/[a-z0-9+_-]{8,}/[a-z0-9+/_-]{8,})"),
    Rule("discord", ("/webhooks/",), "(?i)(discord(?:app)?\\.com/api/(?:v[0-9]+/)?webhooks/[0-9]+/[a-z0-9_-]{40,})"),
    Rule("teams", ("webhook.office", "/incomingwebhook/"),
         "(?i)(webhook\\.office\\.com/webhookb2/[a-z0-9@/_-]{40,})"),
    Rule("zapier", ("hooks.zapier",), "(?i)(hooks\\.zapier\\.com/hooks/catch/[0-9]+/[a-z0-9]{5,})"),
    Rule("ifttt", ("maker.ifttt",), "(?i)(?:maker\\.ifttt\\.com/\\S*?/key/|maker\\.ifttt\\.com/use/)([a-z0-9_-]{16,})"),
)  # fmt: skip


@cache
def vendor_rules() -> tuple[Rule, ...]:
    """All of them, in the order in which they are asked."""
    return (*(_rule(*each) for each in _BEGINNINGS), *_SHAPES)


def rules_for(odd: str) -> Iterator[Rule]:
    """Those that may find something in these words, given in small letters."""
    rules = vendor_rules()
    if len(odd) < _LONG:
        yield from (rule for rule in rules if any(mark in odd for mark in rule.marks))
        return
    marks, owners = _marks()
    yield from (rules[place] for place in sorted({owners[at] for at in any_of(marks)(odd) or ()}))


@cache
def _marks() -> tuple[tuple[str, ...], tuple[int, ...]]:
    """All marks, and the rule of each."""
    pairs = [(mark, place) for place, rule in enumerate(vendor_rules()) for mark in rule.marks]
    return tuple(mark for mark, _ in pairs), tuple(place for _, place in pairs)


def needs_word(name: str) -> bool:
    """Whether the shape alone says too little."""
    return name in _NEEDS_WORD


def _rule(name: str, beginnings: str, rest: str) -> Rule:
    marks = tuple(beginnings.split())
    # A short beginning has to begin something; a long one may stand right behind an escaped line end.
    after_letter = all(len(mark) > 3 and not mark.isalnum() for mark in marks)
    edge = "" if after_letter else "(?:^|[^a-z0-9])"
    quoted = "|".join("".join(c if c.isalnum() else "\\" + c for c in mark) for mark in marks)
    return Rule(name, marks, f"(?i){edge}((?:{quoted})(?:{rest}))", begins=True, after_letter=after_letter)
