"""The words for numbers in some languages. Data alone.

Not here: how they are put together (`number_words`).
"""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["WORDS", "Words"]


class Words(NamedTuple):
    """The words of a language, without accents.

    "|" parts the forms of one number, "_" may be a gap, "'" is where a vowel is left out.

    Attributes:
        counts: From 1 to 19.
        tens: From 20 to 90.
        large: 100, 1000, a million, a milliard.
        more: Others, as `word=number`.
        joins: What may stand inside a number.
        point: Words for the point before decimals.
        ordinals: From 1 on to 20, then 30, as far as days are named by them.
        endings: What stands behind each ordinal.
    """

    counts: str
    tens: str
    large: str
    more: str
    joins: str
    point: str
    ordinals: str
    endings: str = ""


WORDS: Final = {
    "en": Words(
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
        " sixteen seventeen eighteen nineteen",
        "twenty thirty forty fifty sixty seventy eighty ninety",
        "hundred thousand million billion",
        "zero=0 oh=0 a_hundred=100 a_thousand=1000 a_million=1000000",
        "and",
        "point",
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
        " thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
        " thirtieth",
    ),
    "de": Words(
        "ein|eins|eine|einen|einem|einer zwei|zwo drei vier funf|fuenf sechs sieben acht neun zehn"
        " elf zwolf|zwoelf dreizehn vierzehn funfzehn|fuenfzehn sechzehn siebzehn achtzehn"
        " neunzehn",
        "zwanzig dreißig|dreissig vierzig funfzig|fuenfzig sechzig siebzig achtzig neunzig",
        "hundert tausend million|millionen milliarde|milliarden",
        "null=0",
        "und",
        "komma|punkt",
        "erst zweit dritt viert funft|fuenft sechst siebt|siebent acht neunt zehnt elft"
        " zwolft|zwoelft dreizehnt vierzehnt funfzehnt|fuenfzehnt sechzehnt siebzehnt achtzehnt"
        " neunzehnt zwanzigst dreißigst|dreissigst",
        "e en er em es",
    ),
    "fr": Words(
        "un|une deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze"
        " seize dix_sept dix_huit dix_neuf",
        "vingt trente quarante cinquante soixante soixante_dix|septante"
        " quatre_vingt|quatre_vingts|huitante|octante quatre_vingt_dix|nonante",
        "cent|cents mille million|millions milliard|milliards",
        "zero=0",
        "et",
        "virgule|point",
        "premier",
    ),
    "es": Words(
        "un|uno|una dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce"
        " quince dieciseis diecisiete dieciocho diecinueve",
        "veinte|veinti treinta cuarenta cincuenta sesenta setenta ochenta noventa",
        "cien|ciento mil millon|millones -",
        "cero=0 doscientos=200 doscientas=200 trescientos=300 trescientas=300 cuatrocientos=400"
        " cuatrocientas=400 quinientos=500 quinientas=500 seiscientos=600 seiscientas=600"
        " setecientos=700 setecientas=700 ochocientos=800 ochocientas=800 novecientos=900"
        " novecientas=900",
        "y",
        "coma|punto",
        "primer|primero",
    ),
    "it": Words(
        "un|uno|una due tre quattro cinque sei sette otto nove dieci undici dodici tredici"
        " quattordici quindici sedici diciassette diciotto diciannove",
        "venti|vent' trenta|trent' quaranta|quarant' cinquanta|cinquant' sessanta|sessant'"
        " settanta|settant' ottanta|ottant' novanta|novant'",
        "cento|cent' mille|mila milione|milioni miliardo|miliardi",
        "zero=0",
        "e",
        "virgola|punto",
        "primo",
    ),
    "pt": Words(
        "um|uma dois|duas tres quatro cinco seis sete oito nove dez onze doze treze"
        " quatorze|catorze quinze dezesseis|dezasseis dezessete|dezassete dezoito"
        " dezenove|dezanove",
        "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa",
        "cem|cento mil milhao|milhoes bilhao|bilhoes",
        "zero=0 duzentos=200 duzentas=200 trezentos=300 trezentas=300 quatrocentos=400"
        " quatrocentas=400 quinhentos=500 quinhentas=500 seiscentos=600 seiscentas=600"
        " setecentos=700 setecentas=700 oitocentos=800 oitocentas=800 novecentos=900"
        " novecentas=900",
        "e",
        "virgula|ponto",
        "primeiro",
    ),
    "nl": Words(
        "een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien"
        " zestien zeventien achttien negentien",
        "twintig dertig veertig vijftig zestig zeventig tachtig negentig",
        "honderd duizend miljoen miljard",
        "nul=0",
        "en",
        "komma|punt",
        "eerste tweede derde vierde vijfde zesde zevende achtste negende tiende elfde twaalfde"
        " dertiende veertiende vijftiende zestiende zeventiende achttiende negentiende twintigste"
        " dertigste",
    ),
}
"""By language: those in which standing instructions are read."""
