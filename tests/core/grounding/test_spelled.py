"""What was said in words, as in speech, is no invention; another number or day is one."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sources import found, shown

from chatfold import ChatContext
from chatfold.core.grounding.number_words import in_kanji
from chatfold.core.grounding.spoken import folded, numbers_in


@pytest.mark.parametrize(
    ("said", "true", "lie"),
    [
        ("I can pay twelve thousand dollars at most.", "$12,000", "$12,001"),
        ("I can pay twelve thousand dollars at most.", "12 thousand dollars", "$2,000"),
        ("It was two hundred and fifty euros.", "250 EUR", "200 EUR"),
        ("It was two-hundred fifty euros.", "€250", "€50"),
        ("It cost twelve hundred dollars.", "$1,200", "$12"),
        ("About twenty-five thousand, for the roof.", "$25,000", "$5,000"),
        ("It holds a hundred litres.", "100 l", "100 kg"),
        ("Two thousand, five hundred dollars.", "$2,500", "$500"),
        ("Between two hundred and three hundred euros.", "200 to 300 EUR", "500 EUR"),
        ("It was twenty dollars and fifty cents.", "$20.50", "$20"),
        ("It was fifty cents.", "$0.50", "$50"),
        ("It was two point five million dollars.", "$2.5 million", "$5 million"),
        ("It was three point one four kilos.", "3.14 kg", "3.41 kg"),
        ("I need twenty-five percent off.", "25 %", "35 %"),
        ("It took forty minutes.", "40 min", "50 min"),
        ("It was two hundred pounds.", "£200", "£2,000"),
        ("Bitte überweisen Sie zweihundertfünfzig Euro.", "250 Euro", "50 Euro"),
        ("Zwölftausend Euro, bitte.", "12.000 Euro", "2.000 Euro"),
        ("Es sind fünf und zwanzig Euro.", "25 Euro", "20 Euro"),
        ("Das macht zwölf Euro fünfzig.", "12,50 Euro", "12 Euro"),
        ("Es sind zwei Komma fünf Kilometer.", "2,5 km", "25 km"),
        ("Trois mille euros pour Petra.", "3 000 euros", "1 000 euros"),
        ("Quatre-vingt-dix-sept euros.", "97 euros", "90 euros"),
        ("Mil doscientos euros para Petra.", "1.200 euros", "1.000 euros"),
        ("Ciento treinta y cinco euros.", "135 euros", "35 euros"),
        ("Mille e duecento euro.", "1.200 euro", "200 euro"),
        ("Sono ventottomila euro.", "28.000 euro", "8.000 euro"),
        ("Duzentos e cinquenta euros.", "250 euros", "50 euros"),
        ("Vinte e cinco mil euros.", "25.000 euros", "5.000 euros"),
        ("Tweehonderdvijftig euro graag.", "250 euro", "50 euro"),
        ("Het is tweeëntwintigduizend euro.", "22.000 euro", "2.000 euro"),
        ("予算は三万五千円です。", "35,000円", "5,000円"),
        ("二百五十元。", "250元", "50元"),
    ],
)
def test_a_number_may_have_been_said_in_words(said: str, true: str, lie: str) -> None:
    """A part of it, or one beside it, was not said."""
    assert found(f"It is {true} now.", shown(said)) == []
    assert len(found(f"It is {lie} now.", shown(said))) == 1


@pytest.mark.parametrize(
    ("said", "true", "lie"),
    [
        ("On the third of March please.", "3 March", "4 March"),
        ("On March third.", "3 March", "3 April"),
        ("On March third, twenty twenty-seven.", "3 March 2027", "3 March 2028"),
        ("On the twenty-third of May.", "23 May", "20 May"),
        ("Am dritten März bitte.", "3. März", "4. März"),
        ("Der einundzwanzigste Mai.", "21. Mai", "1. Mai"),
        ("Le trois mars deux mille vingt-sept.", "3 mars 2027", "13 mars 2027"),
        ("Le premier août.", "1 août", "2 août"),
        ("El treinta y uno de diciembre de dos mil veintiséis.", "2026-12-31", "2027-12-31"),
        ("El veinticinco de marzo.", "25 de marzo", "5 de marzo"),
        ("Il primo maggio.", "1 maggio", "11 maggio"),
        ("Vinte e cinco de março.", "25 de março", "5 de março"),
        ("Op drie april.", "3 april", "13 april"),
        ("Op de eenentwintigste april.", "21 april", "1 april"),
        ("三月五日にお願いします。", "3月5日", "3月15日"),
        ("二〇二七年十二月三十一日", "2027-12-31", "2027-12-01"),
    ],
)
def test_a_day_may_have_been_said_in_words(said: str, true: str, lie: str) -> None:
    assert found(f"It is on {true}, then.", shown(said)) == []
    assert len(found(f"It is on {lie}, then.", shown(said))) == 1


def test_a_day_without_a_year_is_of_this_one() -> None:
    sources = shown("On the third of March please.")
    assert found("It is on 2026-03-03.", sources) == ["2026-03-03"]
    sources = shown("Today is 2026-02-01.", "On the third of March please.")
    assert found("It is on 2026-03-03.", sources) == []
    assert found("It is on 2027-03-03.", sources) == ["2027-03-03"]
    assert found("It is on 2026-03-04.", sources) == ["2026-03-04"]
    sources = shown("Today is 2026-02-01.", "It was the third of March twenty twenty-five.")
    assert found("It is on 2026-03-03.", sources) == ["2026-03-03"]


@pytest.mark.parametrize(
    ("said", "lie"),
    [
        ("Twelve thousand euros.", "$12,000"),  # another currency
        ("It weighs fifty kilos.", "$50"),  # another thing
        ("We are fifty people.", "$50"),
        ("Forty people came.", "40 %"),
        ("A thousand thanks!", "$1,000"),
        ("Thanks a million!", "$1,000,000"),
        ("Please do it at once.", "$11"),  # "once" is eleven in Spanish
        ("I know that the rent is due.", "$2"),
        ("A size venti.", "20 EUR"),
        ("Not that one.", "$1"),
        ("At one point two hundred users came.", "$1.20"),
        ("At one point hundred two users came.", "$7"),
        ("Drei Komma million fünf.", "7 Euro"),
        ("Mil gracias, amigo.", "1.000 euros"),
        ("Half a million dollars.", "$1,000,000"),
        ("A few hundred dollars.", "$100"),
        ("Ein paar hundert Euro.", "100 Euro"),
        ("Quelques mille euros.", "1 000 euros"),
        ("Two and a half thousand dollars.", "$1,000"),
        ("Deux millions et demi d'euros.", "2 millions d'euros"),
        ("Es sind 12 tausend Euro.", "1.000 Euro"),
        ("Three hundred 50 dollars.", "300"),
        ("Two thousand euros. I said two thousand!", "$2,000"),
        ("Two hundred crore dollars.", "$200"),
        ("Cent vingt pour cent.", "100 euros"),
        ("It is four four seven one nine dollars.", "$9"),
        ("About twenty, five hundred dollars.", "$2,500"),
        ("二百円です。", "2円"),
        ("数千円です。", "1,000円"),
        ("万一の場合", "10,000円"),
    ],
)
def test_other_words_do_not_vouch_for_a_number(said: str, lie: str) -> None:
    assert len(found(f"It is {lie} now.", shown(said))) == 1


@pytest.mark.parametrize(
    ("said", "lie"),
    [
        ("We may first look at it.", "1 May"),
        ("On the twenty and third of March.", "3 March"),
        ("On the twenty and third of March.", "20 March"),
        ("On the hundred and third of March.", "3 March"),
        ("The third of April, in March.", "3 March"),
        ("Invoice LK-1 is due March 15, 2026.", "2 March"),
        ("We start once April begins.", "11 April"),
        ("In March two orders were cancelled.", "2 March"),
        ("In June third parties were asked.", "3 June"),
        ("二十三月五日", "3月5日"),
    ],
)
def test_other_words_do_not_vouch_for_a_day(said: str, lie: str) -> None:
    assert found(f"It is on {lie}, then.", shown(said)) == [lie]


@pytest.mark.parametrize(
    "said", ["cento mille deux", "twenty and four four", "oh and nineteen five"]
)
def test_what_is_no_number_as_a_whole_has_none_in_it(said: str) -> None:
    """Also where two languages read it in two ways, or a part of it could be one."""
    assert list(numbers_in(said)) == []


@pytest.mark.parametrize("written", ["十百", "二二百", "万一", "万万", "九" * 5_000])
def test_kanji_in_another_order_are_no_number(written: str) -> None:
    assert in_kanji(written) is None


def test_what_is_too_long_for_speech_is_not_looked_through() -> None:
    said = "I can pay twelve thousand dollars."
    assert found("It is $12,000 now.", shown(f"{said} {'So. ' * 4_000}")) == []
    assert len(found("It is $12,000 now.", shown(f"{said} {'So. ' * 5_000}"))) == 1


def test_what_was_said_in_words_takes_no_second_answer() -> None:
    """As in a call: the sentence stays, and the model is asked once."""
    asked: list[str] = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        return "The customer spoke. The customer can pay $12,000 at most for the roof."

    items = [
        {"role": "user", "content": "I can pay twelve thousand dollars at most for the roof."},
        {"role": "assistant", "content": "There are several points to consider first. " * 25},
        {"role": "user", "content": "ok"},
        {"role": "assistant", "content": "fine"},
    ]
    ctx = ChatContext(items, shape="openai_chat")
    outcome = ctx.summarize(answer, keep_last_turns=1)
    assert len(asked) == 1
    assert outcome.facts.ungrounded == ()
    assert "$12,000" in str(items[0]["content"])


# Every number of each language


def _split(words: str) -> list[str]:
    return words.split()


_ODD = _split(
    "a an one two five ten twenty hundred thousand million and point oh half zwei und ein"
    " hundert Euro Komma cent mille et vingt dix mil e y March May third of premier mars"
    " 12 , . - 三 月 日 年 万 dollars cents percent"
)


def _english(n: int) -> str:
    if n < 100:
        small = _split(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
            " fifteen sixteen seventeen eighteen nineteen"
        )
        tens = _split("twenty thirty forty fifty sixty seventy eighty ninety")
        if n < 20:
            return small[n]
        return tens[n // 10 - 2] + (f"-{small[n % 10]}" if n % 10 else "")
    of, word = (1_000, "thousand") if n >= 1_000 else (100, "hundred")
    rest = n % of
    joint = " and " if 0 < rest < 100 else " "
    return f"{_english(n // of)} {word}{joint + _english(rest) if rest else ''}"


def _germanic(n: int, small: str, tens: str, hundred: str, thousand: str, joint: str) -> str:
    words = small.split()
    if n < 20:
        return words[n]
    if n < 100:
        ten = tens.split()[n // 10 - 2]
        unit = words[n % 10]
        unit = "ein" if unit == "eins" else unit
        mark = "ë" if joint == "en" and unit[-1] == "e" else joint[0]
        return f"{unit}{mark}{joint[1:]}{ten}" if n % 10 else ten
    of, word = (1_000, thousand) if n >= 1_000 else (100, hundred)
    many = _germanic(n // of, small, tens, hundred, thousand, joint) if n // of > 1 else ""
    rest = _germanic(n % of, small, tens, hundred, thousand, joint) if n % of else ""
    return (
        many.removesuffix("s") * (many[-4:] == "eins") + many * (many[-4:] != "eins") + word + rest
    )


def _german(n: int) -> str:
    return _germanic(
        n,
        "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn"
        " fünfzehn sechzehn siebzehn achtzehn neunzehn",
        "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig",
        "hundert",
        "tausend",
        "und",
    )


def _dutch(n: int) -> str:
    return _germanic(
        n,
        "nul een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien"
        " zestien zeventien achttien negentien",
        "twintig dertig veertig vijftig zestig zeventig tachtig negentig",
        "honderd",
        "duizend",
        "en",
    )


def _french(n: int) -> str:
    small = _split(
        "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze"
        " seize dix-sept dix-huit dix-neuf"
    )
    if n < 20:
        return small[n]
    if n < 100:
        by_twenty = n // 10 in (7, 9)
        ten, rest = n // 10 - by_twenty, n % 10 + 10 * by_twenty
        word = _split("vingt trente quarante cinquante soixante - quatre-vingt")[ten - 2]
        if not rest:
            return word + "s" * (ten == 8)
        return (
            f"{word} et {small[rest]}" if rest in (1, 11) and ten < 8 else f"{word}-{small[rest]}"
        )
    of, word = (1_000, "mille") if n >= 1_000 else (100, "cent")
    many = f"{_french(n // of).removesuffix('s') if n // of % 10 == 0 else _french(n // of)} "
    rest = f" {_french(n % of)}" if n % of else ""
    plural = "s" if of == 100 and n // of > 1 and not rest else ""
    return f"{many if n // of > 1 else ''}{word}{plural}{rest}"


def _romance(n: int, small: str, tens: str, hundreds: str, joints: tuple[str, str]) -> str:
    words = small.split()
    if n < len(words):
        return words[n]
    if n < 100:
        ten = tens.split()[n // 10 - 2]
        return f"{ten}{joints[0]}{words[n % 10]}" if n % 10 else ten
    if n < 1_000:
        hundred = hundreds.split()[n // 100 - 1]
        full, _, part = hundred.partition("/")
        rest = _romance(n % 100, small, tens, hundreds, joints)
        return f"{part or full}{joints[1]}{rest}" if n % 100 else full
    many = f"{_romance(n // 1_000, small, tens, hundreds, joints)} " if n >= 2_000 else ""
    rest = _romance(n % 1_000, small, tens, hundreds, joints)
    return f"{many}mil {rest}" if n % 1_000 else f"{many}mil"


def _spanish(n: int) -> str:
    return _romance(
        n,
        "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince"
        " dieciséis diecisiete dieciocho diecinueve veinte veintiuno veintidós veintitrés"
        " veinticuatro veinticinco veintiséis veintisiete veintiocho veintinueve",
        "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa",
        "cien/ciento doscientos trescientos cuatrocientos quinientos seiscientos setecientos"
        " ochocientos novecientos",
        (" y ", " "),
    )


def _portuguese(n: int) -> str:
    return _romance(
        n,
        "zero um dois três quatro cinco seis sete oito nove dez onze doze treze quatorze quinze"
        " dezesseis dezessete dezoito dezenove",
        "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa",
        "cem/cento duzentos trezentos quatrocentos quinhentos seiscentos setecentos oitocentos"
        " novecentos",
        (" e ", " e "),
    )


def _italian(n: int) -> str:
    small = _split(
        "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici"
        " quattordici quindici sedici diciassette diciotto diciannove"
    )
    if n < 20:
        return small[n]
    if n < 100:
        ten = _split("venti trenta quaranta cinquanta sessanta settanta ottanta novanta")[
            n // 10 - 2
        ]
        ten = ten[:-1] if n % 10 in (1, 8) else ten
        return ten + (small[n % 10] if n % 10 else "")
    if n < 1_000:
        many = small[n // 100] if n >= 200 else ""
        return f"{many}cento{_italian(n % 100) if n % 100 else ''}"
    many = f"{_italian(n // 1_000)}mila" if n >= 2_000 else "mille"
    return many + (_italian(n % 1_000) if n % 1_000 else "")


def _kanji(n: int) -> str:
    if n >= 10_000:
        return f"{_kanji(n // 10_000)}万{_kanji(n % 10_000) if n % 10_000 else ''}"
    written = ""
    for power, sign in ((1_000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = n // power % 10
        if digit:
            written += ("" if digit == 1 and sign else "〇一二三四五六七八九"[digit]) + sign
    return written


_SPELLERS: list[Callable[[int], str]] = [
    _english, _german, _dutch, _french, _spanish, _portuguese, _italian,
]  # fmt: skip


@pytest.mark.parametrize("spell", _SPELLERS)
@given(n=st.integers(1, 999_999) | st.integers(1, 2_500))
@example(n=21)
@example(n=71)
@example(n=81)
@example(n=1_000)
@example(n=100_100)
@example(n=888_888)
def test_what_is_spelled_is_found_and_no_other_number(spell: Callable[[int], str], n: int) -> None:
    """Neither in its own language nor, of a part of it, in another one."""
    text = f"Euro: {spell(n)} Euro."
    assert {number for number, _ in numbers_in(folded(text)[1])} == {Decimal(n)}


@given(n=st.integers(1, 99_999_999))
def test_a_number_in_kanji_is_read(n: int) -> None:
    assert in_kanji(_kanji(n)) == n


@given(st.text("〇一九十百千万億〇", max_size=60))
def test_any_kanji_of_numbers_may_be_read(text: str) -> None:
    number = in_kanji(text) if text else None
    assert number is None or number >= 0


@given(
    st.lists(
        st.sampled_from(_ODD),
        max_size=30,
    )
)
def test_any_words_may_have_been_said(words: list[str]) -> None:
    """Nothing is said by an odd row of them that raises."""
    sources = shown(" ".join(words), "".join(words))
    for value in ("$48,131", "3 March 2031", "1.5 kg"):
        assert len(found(f"It is {value} now.", sources)) <= 1
