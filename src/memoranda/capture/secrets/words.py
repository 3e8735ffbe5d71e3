"""The words beside a secret, in many languages. Data only: how they are read is in `sentences`.

All in small letters. A word of a language written with spaces has to begin where a word begins.
"""

# What follows may be any word that nobody would guess.
PASSWORDS = (
    "password", "passwords", "passphrase", "pass phrase", "passcode", "pass code", "passwd", "pwd", "pass word",
    "passwort", "kennwort", "hasło", "hasła", "hasłem", "haslo", "hasla", "haslem", "heslo", "heslem", "hesla",
    "contraseña", "contrasena", "mot de passe", "mots de passe", "mdp", "parola d'ordine", "senha", "palavra-passe",
    "palavra passe", "wachtwoord", "пароль", "пароля", "паролем", "парол", "şifre", "sifre", "parola", "lösenord",
    "losenord", "passord", "adgangskode", "kodeord", "salasana", "jelszó", "jelszo", "κωδικός", "mật khẩu",
    "kata sandi", "密码", "密碼", "口令", "パスワード", "パスコード", "合言葉", "비밀번호", "암호", "비번",
    "패스워드", "كلمة المرور", "كلمة السر", "סיסמה", "पासवर्ड",
)  # fmt: skip

# What follows is a number, or a few characters with a digit.
CODES = (
    "pin", "pin code", "pin-code", "pincode", "pin number", "code pin", "kod pin", "código pin", "codigo pin",
    "cvv", "cvc", "cvv2", "cvc2", "cid code", "security code", "door code", "gate code", "alarm code", "safe code",
    "entry code", "access code", "lock code", "garage code", "keypad code", "unlock code", "house code",
    "bank code", "verification code", "login code", "sms code", "one-time code", "one time code", "otp", "2fa code",
    "mfa code", "authentication code", "combination", "lockbox code", "elevator code", "code to the",
    "code for the", "code for my", "code to my", "code for our", "code to our", "disarm code", "voicemail code",
    "luggage code", "lockbox", "kod do", "kod dostępu", "kod alarmu", "kod wejściowy", "kod do drzwi",
    "kod do bramy", "kod domofonu", "kod weryfikacyjny", "kod sms", "szyfr do", "szyfr", "türcode", "zugangscode",
    "sicherheitscode", "alarmcode", "code für", "geheimzahl", "bestätigungscode", "tan", "código de", "codigo de",
    "clave de", "combinación", "code de la", "code de l", "code du", "code d'accès", "code d'entrée",
    "code d’accès", "code secret", "digicode", "code de vérification", "kód k", "kód od", "kód do",
    "přístupový kód", "ověřovací kód", "codice", "código", "toegangscode", "deurcode", "alarmkode", "код от",
    "код для", "код двери", "пин", "пин-код", "пинкод", "验证码", "驗證碼", "门锁密码", "门禁码", "安全码", "pin码",
    "暗証番号", "認証コード", "確認コード", "ピン", "暗証コード", "인증번호", "인증 코드", "핀 번호", "핀번호",
    "현관 코드", "도어락",
)  # fmt: skip

# What follows is a key: long, with no order in it.
KEYS = (
    "token", "secret", "api key", "apikey", "api-key", "api_key", "access key", "accesskey", "access_key",
    "secret key", "private key", "privatekey", "private_key", "client secret", "auth", "authorization", "bearer",
    "credential", "creds", "license key", "licence key", "product key", "serial key", "activation key",
    "signing key", "encryption key", "key", "service key", "deploy key", "app key", "appkey", "master key",
    "account key", "shared key", "session key", "webhook", "totp", "2fa", "mfa", "otpauth", "session", "sessionid",
    "cookie", "jwt", "connection string", "dsn", "sas", "psk", "wpa", "pat", "login", "b64", "base64", "signature",
    "hmac", "salt", "passkey", "pass", "pw", "klucz", "kluczem", "sekret", "poświadczenia", "schlüssel",
    "zugangsschlüssel", "zugangsdaten", "geheimnis", "clave", "llave", "secreto", "clé", "clef", "jeton",
    "identifiants", "klíč", "tajný", "tajemství", "chiave", "segreto", "chave", "segredo", "sleutel", "geheim",
    "ключ", "токен", "секрет", "anahtar", "nyckel", "密钥", "密鑰", "秘钥", "令牌", "凭证", "凭据", "私钥", "金鑰",
    "トークン", "シークレット", "アクセスキー", "秘密鍵", "鍵", "apiキー", "キー", "토큰", "시크릿", "키",
    "액세스 키", "비밀키",
)  # fmt: skip

# What follows is a row of plain words.
PHRASES = (
    "seed", "seed phrase", "recovery phrase", "mnemonic", "secret phrase", "backup phrase", "recovery words",
    "wallet", "passphrase", "fraza", "frazy odzyskiwania", "słowa odzyskiwania", "wiederherstellungsphrase",
    "wiederherstellungswörter", "frase semilla", "frase de recuperación", "phrase de récupération",
    "phrase secrète", "frase di recupero", "frase de recuperação", "herstelzin", "obnovovací fráze", "сид-фраза",
    "seed-фраза", "мнемоническая фраза", "фраза", "助记词", "助記詞", "シードフレーズ", "リカバリーフレーズ",
    "ニーモニック", "시드 문구", "복구 구문", "니모닉", "recovery",
)  # fmt: skip

# What follows is a list of codes.
LISTS = (
    "backup code", "backup codes", "recovery code", "recovery codes", "scratch codes", "rescue codes",
    "emergency codes", "one-time codes", "2fa codes", "mfa codes", "kody zapasowe", "kody odzyskiwania",
    "kod zapasowy", "backup-codes", "backupcodes", "wiederherstellungscode", "wiederherstellungscodes",
    "ersatzcodes", "sicherungscodes", "notfallcodes", "códigos de respaldo", "códigos de recuperación",
    "codes de secours", "codes de récupération", "codici di backup", "codici di recupero", "códigos de backup",
    "herstelcodes", "back-upcodes", "záložní kódy", "obnovovací kódy", "резервные коды", "коды восстановления",
    "备用码", "恢复码", "备份码", "備用碼", "バックアップコード", "リカバリーコード", "復旧コード", "백업 코드",
    "복구 코드", "app password", "app-password", "application password", "hasło aplikacji", "app-passwort",
    "app-specific password", "recovery key", "bitlocker",
)  # fmt: skip

# Where a password would be, but is none: how it is, not what it is.
NOT_A_PASSWORD = frozenset({
    "a", "about", "above", "absent", "accepted", "active", "again", "ago", "all", "allowed", "almost", "already",
    "also", "always", "an", "and", "another", "any", "anymore", "anyone", "anything", "anyway", "are", "around",
    "as", "asked", "at", "available", "away", "back", "bad", "be", "because", "been", "before", "being", "below",
    "best", "better", "between", "blank", "both", "but", "by", "called", "can", "cannot", "case", "changed",
    "characters", "check", "clear", "clever", "coming", "common", "complete", "complex", "complicated",
    "compromised", "correct", "could", "crap", "crazy", "cool", "cute", "dead", "default", "did", "different",
    "difficult", "do", "does", "done", "easier", "easy", "either", "else", "email", "empty", "encrypted", "english",
    "enough", "even", "ever", "every", "everything", "everywhere", "exact", "exactly", "expired", "expiring",
    "false", "fine", "first", "five", "for", "forever", "forgotten", "form", "format", "four", "free", "from",
    "full", "fully", "fun", "funny", "gibberish", "given", "going", "gone", "good", "great", "had", "handled",
    "hard", "has", "hashed", "have", "he", "here", "hers", "hey", "hidden", "his", "horrible", "how", "huge", "i",
    "if", "important", "impossible", "in", "incorrect", "insecure", "inside", "invalid", "is", "it", "its",
    "itself", "just", "key", "kept", "known", "last", "later", "leaked", "least", "less", "like", "likely",
    "limited", "listed", "literally", "locked", "long", "longer", "lost", "love", "mandatory", "manager", "many",
    "maybe", "me", "mine", "missing", "more", "most", "much", "must", "my", "name", "needed", "never", "new",
    "next", "nice", "no", "nobody", "none", "nonsense", "not", "nothing", "now", "null", "number", "of", "off",
    "ok", "okay", "old", "on", "once", "one", "only", "open", "optional", "or", "other", "our", "ours", "out",
    "outdated", "over", "part", "per", "perfect", "permanent", "pending", "please", "possible", "present", "pretty",
    "private", "probably", "protected", "public", "random", "rather", "ready", "really", "recommended", "required",
    "reset", "right", "safe", "same", "saved", "secret", "secure", "sent", "set", "several", "shared", "short",
    "should", "shown", "silly", "simple", "simpler", "six", "so", "some", "somebody", "someone", "something",
    "somewhere", "sorry", "still", "stored", "strange", "string", "stronger", "strong", "stuff", "stupid", "such",
    "sure", "tbd", "temporary", "terrible", "text", "that", "the", "their", "theirs", "them", "then", "there",
    "these", "they", "thing", "this", "those", "three", "time", "to", "today", "together", "tomorrow", "tonight",
    "too", "true", "two", "typed", "ugly", "unchanged", "under", "undefined", "unique", "unknown", "unset",
    "unsafe", "until", "up", "updated", "upper", "us", "used", "useless", "user", "username", "valid", "very",
    "visible", "was", "wasted", "way", "we", "weak", "weaker", "weird", "well", "were", "what", "when", "where",
    "which", "while", "who", "why", "will", "wise", "with", "without", "working", "worse", "worst", "would",
    "written", "wrong", "yes", "yesterday", "yet", "you", "your", "yours", "zero", "auf", "bei", "das", "dem",
    "den", "der", "die", "ein", "eine", "einfach", "falsch", "für", "geheim", "gespeichert", "ich", "im", "immer",
    "ist", "kein", "leer", "mit", "nicht", "noch", "richtig", "schon", "sehr", "sicher", "unsicher", "und", "unter",
    "veraltet", "verloren", "vergessen", "von", "wichtig", "wieder", "zu", "zum", "abgelaufen", "geändert",
    "bardzo", "bez", "brak", "było", "być", "błędne", "ciągle", "dla", "długie", "dobre", "fajne", "jest", "już",
    "krótkie", "łatwe", "mi", "moje", "nadal", "na", "nie", "nieaktualne", "nieprawidłowe", "od", "po", "pod",
    "proste", "puste", "się", "silne", "słabe", "stare", "tajne", "takie", "trudne", "w", "wygasło", "z", "za",
    "zapisane", "zapomniane", "zbyt", "zły", "złe", "zmienione", "al", "algo", "aquí", "bien", "con", "correcta",
    "corta", "de", "débil", "del", "demasiado", "el", "en", "es", "esta", "está", "fácil", "fuerte", "guardada",
    "incorrecta", "la", "larga", "las", "lo", "los", "mala", "más", "muy", "para", "por", "que", "se", "secreta",
    "segura", "su", "tan", "tu", "un", "una", "válida", "vacía", "au", "aux", "bon", "bonne", "c'est", "ce",
    "cette", "court", "dans", "des", "du", "elle", "est", "expiré", "facile", "faible", "fort", "il", "le", "les",
    "mauvais", "mon", "ne", "oublié", "pas", "plus", "pour", "privé", "qui", "sa", "sécurisé", "son", "sous", "sur",
    "toujours", "très", "trop", "une", "vide", "bylo", "byť", "dlouhé", "dobré", "heslo", "je", "jednoduché",
    "krátké", "má", "moc", "musí", "není", "někde", "pro", "příliš", "prázdné", "silné", "slabé", "špatné",
    "správné", "stejné", "tady", "tajné", "u", "uložené", "v", "ve", "velmi", "zapomenuté", "ze", "že", "che",
    "corretta", "debole", "di", "è", "forte", "lunga", "non", "più", "scaduta", "sicura", "troppo", "vuota", "dos",
    "fraca", "muito", "não", "um", "uma", "een", "het", "kort", "lang", "niet", "sterk", "te", "veel", "zwak",
    "без", "в", "забыт", "и", "на", "не", "нет", "очень", "по", "простой", "слабый", "сложный", "это",
})  # fmt: skip

# What people write where the secret would be.
PLACEHOLDERS = frozenset({
    "password", "passwd", "pass", "pwd", "passphrase", "secret", "secrets", "token", "tokens", "key", "apikey",
    "api_key", "your_password", "yourpassword", "your-password", "your_token", "your_secret", "your_key",
    "your_api_key", "your-api-key", "yourapikey", "my_password", "mypassword", "mysecret", "my_secret", "changeme",
    "change_me", "changethis", "change-me", "example", "placeholder", "redacted", "hidden", "removed", "masked",
    "string", "str", "text", "none", "null", "nil", "true", "false", "undefined", "optional", "required", "default",
    "todo", "tbd", "n/a", "na", "xxx", "xxxx", "foo", "bar", "foobar", "test", "testing", "dummy", "sample", "user",
    "username", "admin", "root", "value", "bool", "int", "bytes", "any", "self", "bearer", "basic", "digest",
    "oauth", "oauth2", "jwt", "rsa", "aes", "hmac", "here", "auto", "number", "varchar", "char", "object", "array",
    "input", "output", "env", "config", "process", "file", "1password", "2fa", "mfa1", "office365", "microsoft365",
    "oauth2.0", "sha256", "sha-256", "sha512", "sha-512", "base64", "utf-8", "utf8", "md5", "bcrypt", "argon2",
    "argon2id", "pbkdf2", "scrypt", "aes256", "aes-256", "rsa2048", "hs256", "rs256", "es256", "web3", "ipv4",
    "ipv6", "auth0", "route53", "s3", "ec2", "http2", "h264", "windows10", "windows11", "win10", "win11", "ps5",
    "ps4", "3d", "mp3", "mp4", "covid-19", "covid19",
})  # fmt: skip

# A name that says that what follows is no secret, although it looks like one.
NAMES_OF_HASHES = (
    "commit", "sha", "hash", "checksum", "digest", "md5", "etag", "fingerprint", "revision", "rev ", "rev.", "git ",
    "merge", "branch", "cherry", "blob", "tree", "head ", "image", "docker", "layer", "diff", "patch", "build",
    "uuid", "guid", "isbn", "trace", "span", "request id", "request_id", "requestid", "correlation", "tracking",
    "order", "ticket", "invoice", "version", "release", "tx", "transaction", "block", "address", "contract",
    "integrity", "file", "public key", "pubkey", "mac ", "serial", "imei", "vin", "doi", "arxiv", "magnet",
    "torrent", "video", "playlist", "upgrade", "migration", "hasz", "suma kontrolna", "prüfsumme",
    "somme de contrôle", "suma de verificación", "哈希", "提交", "校验", "ハッシュ", "コミット", "해시", "커밋",
    "user agent", "accession", "snapshot", "object id", "device id", "entity",
)  # fmt: skip
