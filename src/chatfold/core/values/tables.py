"""What words mean beside a number: months, currencies, powers of ten, units. Data alone.

Not here: how a text is searched (`typed`), what is read by them (`dates`,
`numbers`), other words (`terms`).
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "AMBIGUOUS_MONTHS",
    "CURRENCIES",
    "MAGNITUDES",
    "MONTHS",
    "SHARED_SIGNS",
    "SHARED_WORDS",
    "UNITS",
]


def _named(lines: str) -> dict[str, str]:
    """Return word -> what stands first on its line."""
    table: dict[str, str] = {}
    for line in lines.strip().splitlines():
        name, _, words = line.partition(":")
        for word in words.split():
            table[word] = name.strip()
    return table


MONTHS: Final[dict[str, int]] = {
    word: int(number)
    for word, number in _named("""
1: january jan januar jänner januari janvier janv enero ene gennaio gen janeiro يناير
2: february feb februar februari février févr fevrier febrero febbraio fevereiro فبراير
3: march mar märz maerz mrz maart mars marzo março مارس
4: april apr avril avr abril abr aprile أبريل ابريل إبريل
5: may mai mei mayo maggio maio مايو
6: june jun juni juin junio giugno junho يونيو
7: july jul juli juillet juil julio luglio julho يوليو
8: august aug augustus août aout agosto ago أغسطس اغسطس
9: september sep sept septembre septiembre settembre setembro سبتمبر
10: october oct oktober okt octobre octubre ottobre outubro أكتوبر اكتوبر
11: november nov novembre noviembre novembro نوفمبر
12: december dec dezember dez décembre déc decembre diciembre dic dicembre dezembro ديسمبر
""").items()
}
"""Month names and their short forms, lower case: English, German, French, Spanish and cousins, and
the Arabic names of Egypt and the Gulf."""

AMBIGUOUS_MONTHS: Final = frozenset({"may", "mar", "march", "ago", "gen", "mars", "set", "august"})
"""Month names that are other words too; they count with a capital letter, or with a year."""

CURRENCIES: Final[dict[str, str]] = _named("""
USD: USD $ US$ dollar dollars Dollar Dollars usd
EUR: EUR € euro euros Euro Euros eur ユーロ 欧元 유로
GBP: GBP £ quid sterling gbp 英镑
¥: ¥ ￥
JPY: JPY yen Yen 円 日元 엔 jpy
CNY: CNY RMB yuan 元 人民币 块 CN¥ cny
CHF: CHF Fr. Franken francs chf
CAD: CAD CA$ C$ cad
AUD: AUD AU$ A$ aud
NZD: NZD NZ$
HKD: HKD HK$
SGD: SGD S$
MXN: MXN MX$ pesos
BRL: BRL R$ reais
INR: INR ₹ Rs Rs. rupees rupee
KRW: KRW ₩ won 원
RUB: RUB ₽ rubles roubles
UAH: UAH ₴
TRY: TRY ₺ lira
ILS: ILS ₪ shekels
PHP: PHP ₱
VND: VND ₫
THB: THB ฿ baht
PLN: PLN zł złoty
CZK: CZK Kč
HUF: HUF Ft
RON: RON lei
kr: kr
SEK: SEK kronor
NOK: NOK kroner
DKK: DKK
ZAR: ZAR rand
AED: AED dirhams
SAR: SAR
TWD: TWD NT$
IDR: IDR Rp
MYR: MYR RM
BTC: BTC ₿
ETH: ETH
""")
"""Signs, codes and words of currencies -> ISO 4217 code."""

SHARED_SIGNS: Final[dict[str, tuple[str, ...]]] = {
    "¥": ("JPY", "CNY"),
    "kr": ("SEK", "NOK", "DKK"),
}
"""Signs that several currencies share -> their codes."""

_DOLLARS = ("CAD", "AUD", "NZD", "HKD", "SGD", "MXN", "TWD")
SHARED_WORDS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("$", "dollar", "dollars", "Dollar", "Dollars"), _DOLLARS),
    "pesos": ("PHP",),
    "kroner": ("DKK",),
}
"""Words that are read as one currency, and where the others are at home that they may mean."""

MAGNITUDES: Final[dict[str, int]] = {
    "k": 3,
    "K": 3,
    "thousand": 3,
    "tausend": 3,
    "Tsd": 3,
    "M": 6,
    "mn": 6,
    "Mio": 6,
    "mio": 6,
    "million": 6,
    "millions": 6,
    "Million": 6,
    "Millionen": 6,
    "millón": 6,
    "millones": 6,
    "milione": 6,
    "milioni": 6,
    "milhão": 6,
    "milhões": 6,
    "miljoen": 6,
    "bn": 9,
    "B": 9,
    "Mrd": 9,
    "billion": 9,
    "billions": 9,
    "Milliarde": 9,
    "Milliarden": 9,
    "milliard": 9,
    "milliards": 9,
    "miliardo": 9,
    "miliardi": 9,
    "miljard": 9,
    "trillion": 12,
    "lakh": 5,
    "lakhs": 5,
    "crore": 7,
    "crores": 7,
    "万": 4,
    "億": 8,
    "亿": 8,
    "만": 4,
}
"""Words for powers of ten -> the exponent; those that mean one power in every language."""

UNITS: Final[dict[str, str]] = _named("""
%: % percent pct Prozent
kg: kg kilo kilos kilogram kilograms kilogramm Kilogramm 公斤
g: g gram grams Gramm
mg: mg milligram milligrams
µg: µg mcg
t: tons tonnes
lb: lb lbs pound pounds
oz: oz ounce ounces
km: km kilometer kilometers kilometre kilometres Kilometer 公里
m: m meter meters metre metres Meter
cm: cm centimeter centimeters
mm: mm
mi: mi mile miles
ft: ft feet foot
in: inch inches
m²: m² sqm m2
sq ft: sqft
l: l L liter liters litre litres Liter
ml: ml mL
h: h hr hrs hour hours Stunde Stunden heures horas 小时 時間 시간
min: min mins minute minutes Minute Minuten minutos 分钟 分
s: s sec secs second seconds Sekunde Sekunden segundos 秒
ms: ms millisecond milliseconds
µs: µs us microseconds
ns: ns nanoseconds
d: d day days Tag Tage Tagen jours días 天 日間
wk: week weeks Woche Wochen semanas 周
mo: month months Monat Monate Monaten mois meses 个月
y: y yr yrs year years Jahr Jahre Jahren ans años
B: bytes byte
kB: kB KB kb kilobytes
MB: MB megabyte megabytes
GB: GB gigabyte gigabytes gb
TB: TB terabyte terabytes
KiB: KiB
MiB: MiB Mi
GiB: GiB Gi
TiB: TiB
Mbit/s: Mbps
Gbit/s: Gbps
kbit/s: kbps
Hz: Hz
kHz: kHz
MHz: MHz
GHz: GHz
W: W watt watts
kW: kW
MW: MW
Wh: Wh
kWh: kWh
MWh: MWh
V: V volt volts
A: amps
mAh: mAh
°C: °C ℃ Celsius
°F: °F Fahrenheit
°: ° degrees
km/h: km/h kmh kph
mph: mph
px: px pixel pixels
dpi: dpi
rpm: rpm
bpm: bpm
mmHg: mmHg
kcal: kcal calories
x: x ×
""")
"""Units as they are written -> one spelling."""
