"""The first look: whether a secret could be here at all. Most messages end here, after a few microseconds.

It may say yes where there is none; it must not say no where there is one. Nothing else of this package, and no engine,
is loaded before it has said yes.
"""

import re

_DIGIT = re.compile("[0-9]")
_LONG = re.compile("[!-~]{14,}")
_CARD = re.compile(r"\d(?:[ -]?\d){12}")
_LINE_BROKEN = re.compile(r"[!-~]{6}\s*\n")
_SHORTEST_KEY = 14
_SPELLED = 8

# A part of every key word in `words`, so that one search stands for several. What follows these may be plain words.
ALWAYS = (
    "pwd", "mdp", "seed", "haslo", "fraza", "hasla", "hesla", "senha", "sifre", "heslo", "passwd", "haslem",
    "jelszo", "parola", "wallet", "heslem", "kodeord", "passord", "password", "passcode", "passwort", "mnemonic",
    "recovery", "kennwort", "losenord", "salasana", "pass word", "pass code", "contrasena", "wachtwoord",
    "-----begin", "passphrase", "kata sandi", "herstelzin", "adgangskode", "pass phrase", "mot de passe",
    "secret phrase", "palavra-passe", "frase semilla", "backup phrase", "palavra passe", "mots de passe",
    "frase di recupero", "frazy odzyskiwania", "wiederherstellungsphrase",
)  # fmt: skip
ALWAYS_BEYOND_ASCII = (
    "암호", "口令", "비번", "密碼", "密码", "助记词", "니모닉", "助記詞", "合言葉", "패스워드", "비밀번호", "hasła",
    "パスワード", "фраза", "şifre", "パスコード", "시드 문구", "סיסמה", "hasło", "парол", "복구 구문", "hasłem",
    "jelszó", "ニーモニック", "पासवर्ड", "κωδικός", "シードフレーズ", "mật khẩu", "lösenord", "リカバリーフレーズ",
    "كلمة السر", "contraseña", "كلمة المرور", "phrase secrète", "obnovovací fráze", "słowa odzyskiwania",
    "frase de recuperação", "frase de recuperación", "phrase de récupération", "wiederherstellungswörter",
)  # fmt: skip
# After these, nothing is a secret that has no digit.
WITH_DIGIT = (
    "pw", "2fa", "psk", "key", "b64", "wpa", "pat", "cod", "pin", "mfa", "dsn", "sas", "kod", "otp", "cvc", "cvv",
    "jwt", "tan", "salt", "pass", "clef", "auth", "hmac", "jeton", "token", "llave", "login", "clave", "klucz",
    "chave", "szyfr", "creds", "chiave", "geheim", "nyckel", "base64", "secret", "bearer", "sekret", "cookie",
    "segreto", "anahtar", "lockbox", "segredo", "webhook", "session", "sleutel", "signature", "bitlocker",
    "credential", "combination", "identifiants", "zugangsdaten", "connection string",
)  # fmt: skip
WITH_DIGIT_BEYOND_ASCII = (
    "鍵", "키", "ピン", "キー", "秘钥", "私钥", "凭证", "凭据", "金鑰", "密钥", "令牌", "토큰", "密鑰", "安全码",
    "验证码", "门禁码", "驗證碼", "clé", "пин", "备用码", "備用碼", "备份码", "시크릿", "恢复码", "도어락",
    "핀번호", "인증번호", "トークン", "pin码", "ключ", "핀 번호", "暗証番号", "门锁密码", "klíč", "복구 코드",
    "백업 코드", "暗証コード", "인증 코드", "токен", "kód k", "確認コード", "현관 코드", "tajný", "認証コード",
    "復旧コード", "код от", "código", "シークレット", "kód od", "секрет", "kód do", "код для", "türcode",
    "code für", "リカバリーコード", "код двери", "tajemství", "schlüssel", "バックアップコード", "combinación",
    "kod dostępu", "code d'accès", "záložní kódy", "code d’accès", "poświadczenia", "code d'entrée",
    "kod wejściowy", "ověřovací kód", "přístupový kód", "резервные коды", "obnovovací kódy", "hasło aplikacji",
    "bestätigungscode", "коды восстановления", "code de vérification", "codes de récupération",
)  # fmt: skip


def could_hold_secret(text: str) -> bool:
    """False when no rule could find anything."""
    plain = text.isascii()
    low = text.lower()
    lengths = [len(word) for word in text.split()]
    if lengths.count(1) >= _SPELLED or _has(low, ALWAYS) or (not plain and _has(low, ALWAYS_BEYOND_ASCII)):
        return True
    if max(lengths, default=0) >= _SHORTEST_KEY and any(_is_odd(found[0]) for found in _LONG.finditer(text)):
        return True
    if _DIGIT.search(text) and (
        _has(low, WITH_DIGIT)
        or (not plain and _has(low, WITH_DIGIT_BEYOND_ASCII))
        or _CARD.search(text)
        or _LINE_BROKEN.search(text)
    ):
        return True
    return not plain and _reads_otherwise(text)


def _has(low: str, words: tuple[str, ...]) -> bool:
    # A loop, because a generator would take twice as long.
    for word in words:  # noqa: SIM110
        if word in low:
            return True
    return False


def _is_odd(token: str) -> bool:
    """Not just small letters and full stops: digits, an address with a name, large letters inside, a line of dashes."""
    return (
        bool(_DIGIT.search(token))
        or token[1:] != token[1:].lower()
        or ("://" in token and "@" in token)
        or token.startswith("-----")
    )


def _reads_otherwise(text: str) -> bool:
    """Whether there are characters that do not show or that look like others. Letters with accents are neither."""
    if max(text) < "\u02b0" and _DISGUISED_LATIN.isdisjoint(text):
        return False
    from memoranda.capture.secrets.forms import reads_otherwise

    return reads_otherwise(text)


# Soft hyphen, controls, raised letters and digits.
_DISGUISED_LATIN = frozenset("\xad\xaa\xb2\xb3\xb9\xba") | {chr(place) for place in range(0x7F, 0xA0)}
