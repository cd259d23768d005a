"""Words by which a value is told from other words: extensions, hosts, errors, commands. Data alone.

Not here: what words mean beside a number (`tables`), how words are read (`words`,
`paths`).
"""

from __future__ import annotations

from typing import Final

from chatfold.core.word_sets import word_set

__all__ = [
    "BRANDS",
    "COMMANDS",
    "DOMAINS",
    "ERROR_NAMES",
    "EXTENSIONS",
    "ID_WORDS",
    "NO_IDS",
    "PREFIXES",
    "ROOTS",
]


ID_WORDS: Final = word_set(
    """
    order orders ticket tickets invoice invoices account accounts case booking bookings
    reservation ref reference confirmation id ids number no no. nr nr. num customer user member
    claim policy tracking shipment parcel package transaction payment issue pr flight room gate
    seat incident request job build run pid port extension card bestellung bestellnummer
    rechnung kundennummer auftrag ticketnummer bestellnr kundennr rechnungsnummer buchung
    buchungsnummer reservierung vertrag vertragsnummer vorgang vorgangsnummer sendung
    sendungsnummer kunde nummer konto zimmer
    commande facture réservation dossier numéro numero vol chambre contrat colis
    pedido factura cliente reserva número expediente envío envio vuelo habitación contrato cuenta
    ordine fattura prenotazione pratica spedizione conto camera volo
    fatura protocolo encomenda conta voo quarto
    """
)
"""Words before a number that make it an id, lower case."""

EXTENSIONS: Final = word_set(
    """
    py pyi pyc ipynb js jsx mjs cjs ts tsx vue svelte java kt kts scala groovy gradle c h cc cpp
    cxx hpp hh cs fs go rs rb erb php pl pm swift m mm lua r jl ex exs erl hs clj cljs dart zig nim
    sql graphql proto html htm xhtml css scss sass less xml xsl xsd svg json jsonl json5 ndjson
    yaml yml toml ini cfg conf config env properties lock md mdx rst txt text tex bib log csv tsv
    parquet arrow feather avro xlsx xls docx doc pptx ppt odt ods pdf epub rtf png jpg jpeg gif
    webp bmp ico tif tiff psd ai eps mp3 mp4 wav ogg flac m4a mov avi mkv webm zip tar gz tgz bz2
    xz zst 7z rar jar war whl egg deb rpm dmg iso exe dll so dylib a o obj bin dat db sqlite
    sqlite3 bak tmp swp patch diff sh bash zsh fish ps1 bat cmd dockerfile tf tfvars hcl nix mk
    cmake make ninja bazel bzl pem crt cer key pub csr p12 asc sig ics eml vcf srt vtt ttf otf
    woff woff2 wasm map snap tmpl tpl j2 jinja hbs ejs prisma sol ipa apk aab npz npy pt pth onnx
    safetensors gguf pkl pickle h5 gitignore gitattributes gitmodules dockerignore npmrc bashrc
    zshrc editorconfig eslintrc prettierrc
    """
)
"""Extensions of files, lower case."""

DOMAINS: Final = word_set(
    """
    com org net edu gov mil int io dev ai app co uk us de fr nl ch eu ca au nz jp cn kr br mx ru
    pl se dk fi pt cz tv
    """
)
"""Last parts of host names that are met without `https://` and are hardly ever words."""

ROOTS: Final = word_set(
    """
    src lib libs test tests testing spec specs doc docs app apps bin etc usr var home opt tmp root
    dev mnt srv build dist out target node_modules packages pkg cmd internal api core utils
    scripts tools config configs assets static public templates components pages examples
    benchmarks vendor include data notebooks migrations models views controllers services
    """
)
"""First parts of paths that tell a path from two words with a slash."""

BRANDS: Final = word_set(
    """
    node.js next.js vue.js react.js nuxt.js express.js d3.js three.js asp.net vb.net
    github gitlab javascript typescript openai youtube linkedin paypal iphone ipad macos ios
    mysql postgresql sqlite mongodb graphql devops whatsapp facetime airbnb fedex mastercard
    mcdonald postgres javadoc wordpress stackoverflow tiktok ebay powerpoint onedrive sharepoint
    icloud imessage itunes ubuntu webgl webrtc websocket websockets latex numpy pytorch
    """
)
"""Names of products, lower case, that look like those of files or of code."""

NO_IDS: Final = word_set(
    """
    utf-8 utf8 utf-16 utf16 iso-8859-1 sha-1 sha1 sha-256 sha256 sha-512 sha512 md5 base64 base32
    ipv4 ipv6 http1 http2 http3 h264 h265 mp3 mp4 x86 x64 x86_64 amd64 arm64 aarch64 int8 int16
    int32 int64 uint8 uint32 uint64 float32 float64 i18n l10n a11y k8s s3 ec2 b2b b2c p2p 2d 3d 4k
    8k 3g 4g 5g covid-19 h1 h2 h3 h4 h5 h6 q1 q2 q3 q4 y2k oauth2 python2 python3 py2 py3 es6 web3
    log4j 2fa mp3s co2 h2o 1st 2nd 3rd win32 win64 f1 24/7 365 a4 b4
    """
)
"""Words with a digit in them, lower case, that name no single thing."""

PREFIXES: Final = word_set("mid pre post top non late early past sub under over about")
"""What stands with a hyphen before a number without making it an id, lower case."""

ERROR_NAMES: Final = word_set(
    """
    EPERM ENOENT ESRCH EINTR EIO ENXIO E2BIG ENOEXEC EBADF ECHILD EAGAIN ENOMEM EACCES EFAULT
    EBUSY EEXIST EXDEV ENODEV ENOTDIR EISDIR EINVAL ENFILE EMFILE ENOTTY EFBIG ENOSPC ESPIPE
    EROFS EMLINK EPIPE EDOM ERANGE EDEADLK ENAMETOOLONG ENOLCK ENOSYS ENOTEMPTY ELOOP EOVERFLOW
    EILSEQ EUSERS ENOTSOCK EDESTADDRREQ EMSGSIZE EPROTOTYPE EPROTONOSUPPORT EOPNOTSUPP
    EAFNOSUPPORT EADDRINUSE EADDRNOTAVAIL ENETDOWN ENETUNREACH ENETRESET ECONNABORTED ECONNRESET
    ENOBUFS EISCONN ENOTCONN ETIMEDOUT ECONNREFUSED EHOSTDOWN EHOSTUNREACH EALREADY EINPROGRESS
    ESTALE EDQUOT ECANCELED ENOTFOUND EAI_AGAIN ELIFECYCLE ERESOLVE EOF OOM
    SIGKILL SIGTERM SIGSEGV SIGINT SIGABRT SIGPIPE SIGHUP
    """
)
"""Names of errors and signals of POSIX, and what Node and npm add to them."""

COMMANDS: Final = word_set(
    """
    git gh pip pip3 pipx uv poetry conda npm npx yarn pnpm node deno bun python python3 pytest tox
    ruff mypy make cmake ninja gcc g++ clang cargo rustc go java javac mvn gradle dotnet ruby gem
    bundle rails php composer perl docker docker-compose podman kubectl helm terraform ansible aws
    gcloud az ssh scp rsync curl wget ls cd cat cp mv rm mkdir rmdir touch chmod chown ln find grep
    rg sed awk sort uniq head tail less more wc diff patch tar zip unzip gzip gunzip ps kill top
    systemctl service journalctl apt apt-get yum dnf brew snap sudo su echo export source env
    which man history bash sh zsh psql mysql sqlite3 redis-cli mongo openssl nginx vim nano code
    crontab df du free uname ping netstat ss ip ifconfig dig nslookup xargs tee jq
    """
)
"""First words of shell commands."""
