"""The words of Portuguese that standing instructions are made of, of Portugal and of Brazil.

Words with an accent stand here without it, too: many write so. Not here: what each kind of words
is for (`words`).
"""

from __future__ import annotations

from typing import Final

from chatfold.core.constraints.languages.loosening import PORTUGUESE as LOOSENING
from chatfold.core.constraints.words import Words

__all__ = ["PORTUGUESE"]


def _forms(stems: str, endings: str) -> str:
    """Return each of these words with each of these endings."""
    return "|".join(f"{stem}{end}" for stem in stems.split("|") for end in endings.split("|"))


# "Não ligue", "não ligues", "não liguem": most verbs forbid so. The letter before tells them from
# "se", "me", "que"; verbs that only state so ("não sabe") are among the exceptions. The others
# forbid with an "a", and so each is named: "não funciona" states.
_FORBIDDEN = (
    _forms("*[abcdefghijlmnoprstuvxzçáéíóúâêôãõ]", _forms("[bcdfghijlmnprstuvxzç]e|que", "|s|m"))
    + "|fa[çc]a*|diga*|*screva*|responda*|mexa*|*clua*|*ponha*|*tenda*|ofere[çc]a*|pe[çc]a*"
    "|abra|permita*|sugira*|insira*|*duza*|remova*|assuma*|exceda*|vá|saia*|repita*|corrija*|seja*"
    "|*[tv]enha*|traga*|dê|dês|leia*|perca*|esque[çc]a*|*stitua*|destrua*|transfira*|converta*"
)
_STATES = (
    _forms(
        "sabe|consegue|existe|*ponde|*cide|escreve|*cebe|*tende|*[rhntd]ece|serve|*olve|permite"
        "|abre|vende|vale|pede|depende|segue|*corre|promete|perde|vive|cumpre|exige|este|ele|teve",
        "|s|m",
    )
    + "|tem|têm|vem|querem|fazem|podem|hoje|esse|bem|obtive|*[aelr]mente|*aste|*este|*iste|tive"
)
# Those that are told so often that they are known in the middle of a sentence, too.
_ORDERED = _forms("use|mande|envie|ligue|mude|altere|apague|toque|deixe|faça|escreva|mexa", "|s|m")
_TOLD = _forms(
    "avis|pergunt|consult|confirm|mostr|fal|pe[çcd]|esper|aguard", "[ae]|[ae]-me|em|em-me"
)
# With "only" behind them these ask for a part of something, once: "envie só a primeira página".
_ONCE = "envi*|mand*|mostr*|list*|di[zg]*|escrev*|faz|faça|corr*|preciso|quero|queria|*-me|*-nos"
_AR = "ar|o|a|as|am|e|es|em|ando|ado|ada|ados|adas|arem|ar-me|a-me|e-me|em-me|ar-nos|e-nos|em-nos"
_ER = "er|ir|o|e|es|em|a|as|am|endo|indo|ido|ida|erem|irem|er-me|ir-me|a-me|e-me|am-me|er-nos|a-nos"
_TO_DO = "*ar|*er|*ir"
_ME = "me|nos|lhe|lhes|se|te|o|a|os|as"
_NOT = "não|nao|nunca|jamais"
_ONLY = "só|apenas|somente|unicamente|exclusivamente"
_CAN = "pode|podes|podem"
_MUST = "deve|deves|devem"
_WANT = "quero|queremos|queria|gostaria|gostava|gostaríamos|preciso|precisamos|prefiro|peço"
_I_DO = "aceito|aceitamos|viajo|viajamos|trabalho|como|comemos|bebo|compro|fico|pago|leio|falo"
_AT = "à|ao|aos|às|com|por|pelo|pela|em|no|na|nos|nas|depois|antes|entre"
_LEAVE = _forms("autoriza|aprova|confirma", "ção|cao") + "|permissão|consentimento|acordo|revisão"
_TONGUES = "português|portugues|inglês|ingles|espanhol|francês|frances|alemão|alemao|italiano|russo"
_SIZES = "palavras|frases|linhas|caracteres|parágrafos|paragrafos|itens|pontos|páginas|paginas"

# Phrases of one build share a line: "de|outra novo|vez" is "de novo" and "outra vez".
PORTUGUESE: Final = Words(
    orders=(
        "escrev* * no imperativo|infinitivo|presente|passado",
        "cada função|método|classe|arquivo|ficheiro|teste|commit|módulo leva|tem|deve|precisa",
        "volte|volta|voltem ao|para|a inglês|ingles|português|portugues|francês|alemão|espanhol",
        "volte|volta|voltem para o inglês|ingles|português|portugues|francês|alemão|espanhol",
        "mude|muda|mudem|passe para o inglês|ingles|português|portugues|francês|alemão por|agora|.",
        "mude|muda|mudem|passe para inglês|ingles|português|portugues|francês|alemão por|agora|.",
        "fique|fica|fiquem|mantenha-se|mantém-te no|na|em|com|dentro",
        "funções|classes|métodos|frases|respostas|mensagens com|de menos|máximo",
        "só|so fazemos|trabalhamos|entregamos|publicamos|viajamos * às|aos|em|no|na|depois|antes",
        "todas|todos as|os * em litros|quilos|metros|gramas|euros|reais|dólares",
        f"{_NOT}|{_ONLY}|sempre _ {_FORBIDDEN}",
        f"{_NOT}|{_ONLY}|sempre mais|{_ME} {_FORBIDDEN}",
        f"não|nao|nunca mais me|nos {_FORBIDDEN}",
        f"{_NOT} {_TO_DO}",
        f"{_NOT} mais|{_ME} {_TO_DO}",
        f"nunca|jamais|sempre {_AT}|aceito|aceitamos",
        f"{_NOT} pode|podes|{_MUST} {_TO_DO}",
        "não|nao com[eo]|comemos|beb[eo]|bebemos|fum[ao]|tom[ao]|tolero|aceito|autorizo|permito",
        "não|nao pago|gasto|viajo|fico|durmo mais|em|de|com|à|ao",
        "não|nao quero|queremos gastar|receber|pagar|ser|nada|nenhum*|*[!m]as|*es|*[!t]os|*ns",
        "não|nao mais do|de|que que|#",
        "não|nao me|nos liga|manda|envia|telefona|chama|cobra",
        f"sempre que {_TO_DO}|*rem|*res",
        f"{_ONLY} {_CAN}|{_MUST}|{_I_DO}|posso|podemos|quero|queremos|uso|usamos",
        f"{_ONLY} me|nos {_CAN}|{_MUST}",
        f"{_ONLY} {_AT}|de|se|quando",
        f"{_ONLY} *s *s|*l|*e|*m|*r .",
        f"{_ONLY} *s {_AT}|de|sem|que|até",
        f"{_ONLY} *a|*e|*em|{_TO_DO} quando|se|depois|até eu",
        f"{_I_DO} só|apenas|somente",
        f"*s|*ção|*dade|*gem|*mento {_ONLY}|sempre {_AT}|de|para",
        f"so {_CAN}|quero|queremos|aceito|depois|antes",
        f"so me|nos {_CAN}|ligue|liguem|mande|mandem|envie|enviem|contacte|responda",
        f"{_CAN} * {_ONLY}|so {_AT}|de",
        f"{_CAN} me|nos tratar|chamar",
        "evite|evita|evitem|evitar|limite|limita|limitem|garanta|garante|assegure [!~]*",
        "prefira|prefere|prefiro|preferimos|preferia|preferiria|mantenha|mantém|mantem|mantenham",
        "máximo|maximo de|#",
        "no máximo|maximo #|um|uma|dois|duas|três|quatro|cinco|dez",
        "pare|parem|deixe|deixa|chega|basta|lembre-se|lembra-te|certifique-se|certifica-te de|que",
        f"para de {_TO_DO}",
        "nada _ de|com|sem|acima|abaixo|antes|depois|à|às|ao|aos|picante|frito|cru|doce",
        "sem _ *s .",
        "sem _ *s|*a|*o por|nem",
        "sem _ *s|*a|*o no|na|nos|nas|em resposta*|texto*|código|coment*|mensage*|prato*|tudo",
        "sem _ * nov*|extra*|adiciona*",
        f"{_TOLD} * antes|primeiro|antecedência|antecedencia",
        f"{_TOLD} * {_LEAVE}",
        f"{_TOLD} * eu|que confirmar|autorizar|aprovar|dizer",
        "antes|depois de cada|qualquer|todo|toda|todas|todos",
        f"antes de {_TO_DO} {_TOLD}",
        f"antes de {_TO_DO} * [!~]* {_TOLD}",
        "us[ea]|usem|utiliz[ea]|escrev[ae] [!~]* não|nao",
        "us[ea]|usem|utiliz[ea]|escrev[ae] * sistema|unidades|espaços|aspas",
        f"respond[ae]|escrev[ae]|fal[ae]|falem * em {_TONGUES}",
        "respond[ae]|escrev[ae]|fal[ae]|falem * linguagem|simples|forma|modo|maneira|devagar",
        "trate|trata|tratem|trate-me|trata-me|chame|chama|chamem|chame-me|chama-me por|como|de",
        "chame-me|chama-me|chamem-me [!~]*",
        "siga|sigam|respeite|respeitem|cumpra * estilo|convenções|padrão|guia|regras|sempre|pep",
        "os|as preços|precos|valores em euros|reais|dólares|libras por|.",
        "todos|todas os|as preços|precos|valores|datas|horas * em|no euros|reais|formato",
        "preços|precos|valores|datas|horas|temperaturas|distâncias|distancias|unidades|nomes em",
        f"em {_TONGUES} por favor|.",
        f"*s em {_TONGUES}",
        "*s com|de|até|em no máximo|maximo|mínimo|minimo",
        "respostas|frases|mensagens|textos|explicações curtas|curtos|breves|simples|diretas|claras",
        "todos|todas|cada|qualquer|tudo|toda|todo * deve|devem|precisa|precisam|passa|vai",
        "os|as testes|ficheiros|arquivos|comentários vão|ficam sempre|em|na|no|para",
        "deixe|deixa|deixem * como|sempre|intact*",
        "o|a|meu|nosso orçamento|orcamento|limite|teto|máximo é|e|são|ronda|máximo * #",
        "gasto|despesa|valor|preço|orçamento|limite máximo|maximo|máxima|total",
        f"{_WANT} * sempre|nunca",
        "quero|queremos|preciso|precisamos * em|a todos|todas|tudo|cada",
        f"menos|exceto|excepto|salvo {_AT}",
        "seja|sê|sejam formal|informal|breve|diret[oa]|concis[oa]|objetiv[oa]|clar[oa]|honest[oa]",
        "nenhum|nenhuma|nada|ninguém|ninguem * deve|devem|poderá",
    ),
    always=(
        "testes|dados|arquivos|ficheiros|funções|mensagens não|nao podem|devem",
        "não|nao tolera|toleram o|a|os|as|leite|glúten|lactose|nozes",
        "aos|nos|no|nas|às|de * não|nao estou|estamos disponível|disponíveis",
        f"você|vocês|voce|voces|tu {_NOT}|só|apenas {_CAN}|{_MUST}",
        f"{_CAN}|{_MUST} sempre|nunca|apenas|somente",
        "devem ser|estar|ir|ficar|ter|vir|usar|seguir|começar|passar|indicar",
        "nunca|jamais devem|deve",
        "têm|tem|tens de|que ser|estar|ter|usar|passar|ficar|seguir|vir|começar",
        f"{_WANT} que * sempre|nunca|não|antes|cada|todos|todas|qualquer|só|partir|agora",
        f"{_WANT} * em {_TONGUES}|eur*|reais|dólares|dolares",
        f"partir|diante|frente * {_WANT}",
        "não|nao quero|queremos|gosto|gostaria|gostava que",
        f"não|nao|nunca _ {_ORDERED}",
        f"não|nao|nunca me|nos {_ORDERED}",
        "faço|faco|fazemos|mais questão|questao|jeito|conveniente",
        "melhor|preferível|preferivel se|que me|nos",
        "ser avisad*|informad*|consultad* antes",
        "alérgico|alérgica|alergico|alergica|alérgicos|intolerante|intolerantes a|à|ao|aos|às",
        "tenho|tem|temos|sou|somos|é|são alergia*|intoler*|vegetarian*|vegan*|diab*|cel[íi]ac*",
        "ando|anda|uso|usa|acessível|acessivel|adaptado * rodas",
        "não|nao posso|pode|podemos comer|beber|tomar|consumir|subir|ultrapassar|exceder|passar",
        f"sem|exige|precisa|precisam a|o|da|de|ter|pedir|meu|minha * {_LEAVE}|ok|aval",
        f"{_ONLY} [c]om|mediante|após a|o minha|meu|nossa * {_LEAVE}",
        "sem me|nos|eu|falar*|confirmar* perguntar*|avisar*|consultar*|dizer*|mandar|pedir|comigo",
        "caso|circunstância|hipótese|forma|jeito|nenhuma algum|alguma|nenhum|nenhuma|circunstância",
        "é|e estritamente|expressamente|proibido|proibida|proibidos",
        "importante|essencial|imprescindível que|não|nao|nunca|sempre",
        "meu|nosso orçamento|orcamento|limite|teto * #",
    ),
    asking=(f"{_CAN}|poderia|poderias|podia * sempre|nunca|evitar|parar|deixar",),
    limits=(
        "a partir de|do agora|hoje|já|ja|momento",
        "agora|hoje|ora|daqui * diante|frente|avante",
        "doravante",
        "no|de futuro",
        "todas|todos|toda|cada as|os|vez dias|semanas|meses|vezes|que",
    ),
    bounds=(
        f"sempre|nunca|jamais|sem|exceto|excepto|salvo|tudo|{_ONLY}",
        "no|em|por máximo|maximo|extenso|formato",
        "em|a|por|de cada",
        f"até|ate|de|que # {_SIZES}",
        f"antes de cada|qualquer|{_TO_DO}",
        "em|ao vez|invés|inves de|do|da",
        f"até|ate eu|que|nós {_TO_DO}|*a",
    ),
    requests=(
        _forms(
            "us|utiliz|atualiz|respond|escrev|fal|envi|mand|contact|deix|trat|cham|mostr|cit|rod"
            "|cri|adicion|explic|expliqu|resum|apresent|format|convert|entreg|entregu|reserv|marc"
            "|marqu|compr|encomend|pagu|cobr|aceit|avis|lig|ligu|inform|confirm|pergunt|esper"
            "|aguard|assin|guard|test|document|procur|pesquis|escolh|trabalh|indiqu|pass|coloqu"
            "|traduz|pe[çcd]",
            "[ae]|em",
        ),
        "ponha|põe|inclua|inclui|siga|faça|faz|façam|dê|dá|diga|diz|seja|sê|*-me|*-nos|*-lhe",
    ),
    joins=("e|mas|ou|então|entao|porém|favor|pf|pfv", "por favor"),
    fillers=("me|nos|também|tambem|ah|olhe|olha|ok|bem|bom|já|ja|aliás|pf|pfv", "por favor|isso"),
    exceptions=(
        "sempre um prazer|gosto",
        "não|nao deslig*",
        "sempre|nunca *guei|*quei|*cei|*rei|*tei|*dei|*ava|*avam em|a|o|as|os|com|no|na|tudo|bem",
        "dizer|saber|explicar por|porque|se|como|quando * * sempre|nunca|só",
        "não|nao aceito|autorizo|permito isso|isto|essa|esse|esta|este|a|o|que",
        f"não|nao *o|*ou|*i|funciona|liga|entra|{_STATES} * jeito|forma|maneira nenhum*|algum*",
        f"{_ONLY} {_AT}|de|quando * é|*aram|*eram|*iram|*ou|*ei|*eu|*iu|consigo|funciona",
        f"{_NOT}|sempre|{_ONLY} {_STATES}",
        f"{_NOT}|{_ONLY} mais|{_ME} {_STATES}",
        "não|nao se|te|me preocupe|preocupes|preocupem|incomode|diga|digas",
        f"{_NOT} ser|ter|estar|haver|poder|qualquer|sequer|lugar|quer",
        f"{_NOT} {_CAN}|{_MUST} ser|haver|estar|ter|*[!r]",
        "espero|talvez|caso|para|embora|parece|acho * não|nao|nunca",
        "devem|deve estar|ter a|com|por|recebido|sido|havido|acabado|enganados|errados|cheios",
        "tem|têm|tens de|que ser|estar hoje|amanhã|agora|possível|um|uma|mais|brincadeira",
        "chega|basta|nada|sempre de|às conversa|desculpas|promessas|novo|especial|mais|nada|ordens",
        f"{_ONLY} os|as|dois|duas|tres|três|seis|mais|dos|das|esses|essas|estes|estas|uns|umas|nos",
        f"{_ONCE} {_ONLY} o|a|os|as|um|uma|dois|duas|três|isso|isto|mais|que|se|este|esta",
        f"{_ONLY} funciona|abre|aparece|acontece|dá|falha|*ou|*ei|*i|*eu",
        "quero|queria|gostaria saber|perguntar|entender * sempre|nunca",
        "chame-me|chama-me|chamem-me quando|se|à|às|amanhã|um|uma|o|a|hoje|depois|antes|ao|no|na",
        "sem _ dúvida|duvida|dúvidas|duvidas|problema|problemas|mais|pressas|stress|palavras",
        "veio|vieram|chegou|chegaram|estava|estavam|ficou|fiquei|estou|está|estamos|era * sem",
        "*ou|*aram|*eram|*iram|foi|foram|fui|*[bcdlrtv]eu|*iu * sem",
        "prefiro|preferia|prefere o|a|os|as|este|esta|esse|essa|aquele|aquela [!~]* .",
        "prefiro|preferia|prefere o|a|os|as|este|esta|esse|essa [!~]* [!~]* .",
        "prefiro|preferia não|nao responder|dizer|comentar|opinar",
        "prefiro|preferia assim|não|nao|isso|esse|este|esta .",
    ),
    reports=(
        "diz|disse que|para|pra|na|no|isso",
        "disseram|dizem|falou|falaram|pediu|pediram|mandou|mandaram|avisou|respondeu|informou",
        "segundo|conforme o|a|os|as",
    ),
    questions=(
        "por|o|a|será que|quê",
        "porque|porquê|qual|quais|quanto|quantos|quantas|onde|quem",
        "como é|faço|posso|devo|se",
    ),
    subjects=(
        "nunca|sempre a|o|me|foi|é|tive|fui|recebi|chegou",
        "não|nao a|o|me|foi|é|tenho|recebi|consigo|sei",
        "já|ja|ainda não|nao",
        "ninguém|ninguem|eu|ele|ela|eles|elas",
    ),
    takes_back=(
        "esque[çc]a|esquece|ignor[ea]|ignorem * disse|falei|pedi|sobre|regra|regras|limite",
        "desconsider[ea]|anul[ea]|retir[ea] * disse|falei|pedi|sobre|regra|regras|limite",
        "* já|ja não|nao se|é|são aplica|aplicam|precis*|necessári*|válid*",
        "* já|ja|não|nao não|nao|vale|valem|importa vale|valem|importa|interessa|conta|mais",
        "mudei|mudámos|retiro de|o ideia|ideias|opinião|que",
    ),
    negations=("não|nao|nunca|jamais|sem|evit[ae]|evitem|evitar|pare", "nada|chega|basta|deixe de"),
    common=(
        f"{_ONLY}|{_CAN}|{_MUST}|{_NOT}|{_WANT}",
        "o|a|os|as|um|uma|de|do|da|dos|das|em|no|na|nos|nas|por|pelo|pela|pelos|pelas|para|pra",
        "com|ao|à|aos|às|e|ou|mas|se|que|é|são|ser|estar|está|foi|isso|isto|este|esta|esse|essa",
        "então|esses|essas|estes|estas|lá|aqui|como|qualquer|tudo|todo|toda|todos|todas|cada|me",
        "mim|te|lhe|lhes|meu|minha|meus|minhas|teu|tua|seu|sua|seus|suas|nosso|nossa|eu|tu|você",
        "vocês|voce|so|sempre|posso|tem|têm|tens|preferia|precisa|precisas|precisam|favor|agora",
        "já|ja|também|novo|outra|vez|novamente|mais|disse|falei|pedi|sobre|regra|regras|esqueça",
        "esquece|esqueca|ignore|ignora|mudei|ideia|ideias|limite|máximo|maximo|sem|evite|evita",
        "evitem|evitar|nada|chega|basta|deixe|deixa|deixem|pare|voltar|volte|volta|quando|partir",
        "diante|frente|hoje|futuro|vontade|sim|ok|bem|claro|afinal|verdade|desconsidere",
        "desconsidera|anule|anula|retire|retira|aplica|aplicam|vale|valem|até|problema|problemas",
        "fazer|faça|façam|faz|fazem|usar|use|usem|uses|uso|usa|utilize|utilizar|aquilo|mesmo|há",
        "haver|coisa|coisas|doravante|melhor|pensando|importo|importa|fica|obrigado|deixar|deixes",
        "parar|obrigada|daqui|comigo|necessário|tocar|toque|toquem|toques",
    ),
    allows=(
        f"já|ja|agora * {_CAN}",
        f"{_CAN} * * de|outra|à|a|sem novo|vez|vontade|problema|problemas",
        f"{_CAN} * * novamente|voltar",
        "volte|volta|voltem|voltar a|ao|à",
        "já|ja não|nao precisa|precisas|precisam|é|tem|tens|há",
        "não|nao precisa|precisas|precisam|tem|tens|é * * mais",
    ),
    permits=(
        f"{_CAN} {_TO_DO}|*-me|*-nos|me|nos|lhe",
        "não|nao precisa|precisas|precisam",
        "* também|tambem serve|servem|está|estão|são",
        "já|ja não|nao preciso|quero|precisamos|queremos",
        "não|nao é|e|me preciso|necessário|necessario|importo",
    ),
    loosens=LOOSENING.loosens,
    unnamed=LOOSENING.unnamed,
    waits=LOOSENING.waits,
    topics=LOOSENING.topics,
    contrasts=("para|desde|com|por", "antes|depois|entre", "meu|minha|teu|tua|seu|sua|nosso|nossa"),
    endings=(
        "|s|es",
        "m|ns",
        "ão|ões|ãos|ães",
        "l|is",
        "o|a|os|as",
        *(f"{form}|as|a-feira|as-feiras" for form in ("a", "as")),
        *(f"{form}|{_AR}" for form in ("ar", "a", "e", "em")),
        *(f"{form}|{_ER}" for form in ("er", "ir", "a")),
        *(f"{form}|gar|ga|gue|gues|guem|gar-me|gue-me|guem-me" for form in ("gar", "gue", "guem")),
        *(f"{form}|car|ca|que|ques|quem|car-me|que-me|quem-me" for form in ("car", "que", "quem")),
    ),
    openers=(
        # "Não, já pode" answers; "não esqueça" does not take back.
        "não,|nao,|sim|claro|certo|ok|tá|bom|bem|pois|então|obrigado|obrigada|afinal|agora|e|mas",
        "por|na|está|tudo|pensando favor|verdade|bem|melhor",
    ),
    hedges=(
        "desta|dessa vez",
        "ele|ela|eles|elas|você|vocês|tu|quem|alguém|ninguém * disse|disseram|diz|dizem|falou",
        "disseste|disseram|achei|acho|pensei|entendi|dizer|parece",
        "eu não|nao|nunca disse|falei|pedi|quis",
        "se|caso|quando eu|nós|ele|ela|for|houver|isso|você|vocês|não|nao",
        "não|nao é|significa|quer que|porque|verdade|dizer",
    ),
    letters=(
        "caro|cara|caros|caras|prezado|prezada|prezados|prezadas|estimado|estimada|exmo|exma",
        "olá|ola|oi|atenciosamente|cumprimentos|abraço|abraços|cordialmente|saudações",
        "bom|boa|com dia|tarde|noite|os",
    ),
    tags=("ok|tá|certo|combinado|entendido|sim", "por favor", "está|tudo bem", "pode ser"),
    corrects=(
        "afinal|aliás|alias|não|nao|correção|correcao|desculpe|desculpa|perdão|perdao|melhor",
        "na|ou|quer|pensando verdade|realidade|melhor|dizer|bem",
    ),
    lists=("e|ou|nem|mas|mais",),
    goes_on=(
        "e|ou|nem|mas|exceto|salvo|até|ate|se|quando|antes|depois|porque|sem|que|em|no|na|nos|nas",
        "a|à|ao|aos|às|de|do|da|dos|das|por|pelo|pela|para|com|entre|durante|como",
    ),
)
"""The words of Portuguese."""
