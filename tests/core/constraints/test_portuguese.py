"""Standing instructions in Portuguese: found, kept apart from what looks alike, taken back.

The sentences are of several lots. Words were tuned on the first alone; each later lot was measured
once before it was learned from.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from chatfold.core.constraints import Standing, standing
from chatfold.core.constraints.languages.portuguese import PORTUGUESE
from chatfold.core.views import ItemView, TextPart

KEPT = (
    "Escreva as mensagens de commit no imperativo.",
    "Cada função leva uma docstring.",
    "Só fazemos deploy às terças.",
    "Fique no Python 3.11.",
    "Funções com menos de 40 linhas.",
    "A minha filha não tolera leite.",
    "Todas as quantidades em litros.",
    "Nos fins de semana não estou disponível.",
    "Nunca me ligue antes das nove.",
    "Não faça nada sem a minha autorização.",
    "Não quero gastar mais de 200 reais.",
    "só pode me ligar na parte da tarde",
    "Nunca faça push direto para a main.",
    "Prefira funções pequenas.",
    "Daqui para a frente, envie tudo para o meu e-mail do trabalho.",
    "Quero sempre lugar no corredor.",
    "Nada de carne de porco, por favor.",
    "Preciso de um quarto acessível a cadeira de rodas.",
    "Você só deve usar a API pública.",
    "Chega de emojis.",
    "No máximo três frases por resposta.",
    "Contacte-me apenas por WhatsApp.",
    "Tudo o que passar de 50 euros precisa da minha aprovação.",
    "Explica como se eu tivesse dez anos, sempre.",
    "Não aceito substituições de produtos.",
    "Não quero que me liguem para o trabalho.",
    "Jamais telefone para a minha casa depois das dez da noite.",
    "Avise-me sempre antes de debitar a conta.",
    "Não tomo ibuprofeno.",
    "Os preços devem ser indicados com IVA incluído.",
    "Use português do Brasil em tudo.",
    "Siga o guia de estilo do projeto.",
    "Só faça deploy depois de eu aprovar.",
    "Rode o linter antes de cada commit.",
    "Quero lugares sempre à janela.",
    "Prefiro comunicar por chat em vez de telefone.",
    "por favor nunca compartilhe meu endereço",
    "Não toquem à campainha, o bebé dorme.",
    "Não me contactem por telefone, só por correio eletrónico.",
    "Só avança quando eu confirmar.",
    "Não ultrapasse os 50 reais por pedido.",
    "Não me trate por senhora.",
    "Não crie ficheiros novos na raiz do projeto.",
    "Antes de executar qualquer migração, peça confirmação.",
    "Prefiro voar de dia.",
    "nao autorizo nenhum debito sem falar comigo primeiro",
    "Pergunte-me sempre antes de alterar o horário da consulta.",
    "Não consigo subir escadas, preciso sempre de elevador.",
    "Gasto máximo de 100 reais por pedido.",
    "Nunca debitem sem o meu consentimento.",
    "Não me ligue durante o expediente.",
    "Explique sempre o raciocínio passo a passo.",
    "Não comente código óbvio.",
    "Não marquem reuniões à sexta-feira.",
    "Nunca me ponham num quarto ao lado do elevador.",
    "Envie os documentos sempre para a morada do escritório.",
    "Nada acima de 50 euros.",
    "Prefiro respostas diretas.",
    "não quero que mexas nos ficheiros de migração",
    "Obrigado pela ajuda e nunca partilhe os meus dados.",
    "Também me pergunte antes de comprar seguros.",
)
ALIKE = (
    "Pode me dizer por que sempre me cobram duas vezes?",
    "Não desligue!",
    "A encomenda nunca chegou.",
    "Não sei o que aconteceu.",
    "Por favor, cancele a encomenda 123.",
    "Quanto custa o envio para o Porto?",
    "Não se preocupe.",
    "Preciso de ajuda com a minha conta.",
    "O bilhete não é reembolsável.",
    "Não encontro o ficheiro.",
    "Por que não funciona?",
    "Nunca mais volto a comprar aqui.",
    "Não tenho o número do pedido comigo.",
    "Só mais uma pergunta.",
    "Fiquei sem internet o dia todo.",
    "O preço aumentou sem aviso.",
    "Não vale a pena.",
    "Eles sempre cobram taxa?",
    "O estafeta nunca tocou à campainha.",
    "Ninguém responde aos e-mails.",
    "Apaga essa linha, por favor.",
    "Diz só o nome do ficheiro.",
    "Não é preciso, obrigado.",
    "Esquece, já resolvi.",
    "Quase sempre viajo sozinho.",
    "Vocês têm que idade mínima para o check-in?",
    "A minha chefe pediu para só usar o Teams.",
    "O teste não deve falhar aqui, mas falha.",
    "A garantia é de pelo menos dois anos.",
    "Estou sempre a receber o mesmo erro.",
    "O técnico nunca apareceu.",
    "Ele nunca me deixa escolher.",
    "Apague o arquivo temp.txt.",
    "Pode ligar-me de volta daqui a uma hora?",
    "Não, era só isso mesmo.",
    "Melhor do que nada.",
    "Tem de haver um erro na conta.",
    "Não pedi isso.",
    "Nunca me ligaram de volta.",
    "Não dá para pagar com Pix.",
    "Só me resta reclamar.",
    "Vocês deviam ter vergonha.",
    "Tem de ser hoje.",
    "Gostaria que me explicassem a cobrança.",
    "Confirme a reserva, por favor.",
    "Até amanhã!",
    "Cada vez que tento, aparece o mesmo erro.",
    "Não fui eu que fiz essa compra.",
    "Nunca pensei que fosse tão difícil.",
    "Tenho sempre este problema ao fim do mês.",
    "Preciso falar com um atendente.",
    "Deixei a encomenda com o porteiro.",
    "Use o código acima para entrar.",
    "Sem a fatura não consigo trocar.",
    "A loja disse que as entregas devem ser à tarde.",
    "Onde é que devem ser entregues os documentos",
)


def views(*texts: str) -> Sequence[ItemView]:
    return [ItemView("user", (TextPart(text),)) for text in texts]


def told(*texts: str) -> Standing:
    return standing(views(*texts), words=PORTUGUESE)


@pytest.mark.parametrize("said", KEPT)
def test_what_a_customer_wants_kept_to_is_found(said: str) -> None:
    """Formal and informal, of Portugal and of Brazil, also without accents."""
    assert told(said).held == [said]


@pytest.mark.parametrize("said", ALIKE)
def test_what_only_looks_like_an_instruction_is_not_kept(said: str) -> None:
    """Complaints, questions, what is asked for once, and what others said."""
    assert told(said).held == []


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("Não me ligue aos domingos.", "Já me pode ligar aos domingos."),
        ("Não me ligue aos domingos.", "Pode ligar-me outra vez aos domingos."),
        ("Não me ligue aos domingos.", "Pode voltar a ligar aos domingos."),
        ("Não me liguem aos domingos.", "Afinal podem ligar aos domingos."),
        ("Nunca me ligue antes das nove.", "Esqueça o que eu disse sobre ligar antes das nove."),
        ("Nunca me ligue antes das nove.", "Sim, agora já pode ligar antes das nove."),
        ("Sem emojis, por favor.", "Pode usar emojis de novo."),
        ("Sem emojis, por favor.", "Podes voltar a usar emojis."),
        ("Não use markdown.", "Pode usar markdown novamente."),
        ("Não adicione novas dependências.", "Já pode adicionar novas dependências."),
        ("Não mexer na branch main.", "Já podes mexer na branch main."),
        ("Pergunte-me antes de encomendar.", "Já não precisa de perguntar antes de encomendar."),
        ("Pergunte-me antes de encomendar.", "Não precisa mais perguntar antes de encomendar."),
        (
            "Pergunte sempre antes de comprar café.",
            "Não é preciso perguntar antes de comprar café.",
        ),
        ("Responda sempre em inglês.", "Já não é preciso responder em inglês."),
        ("Responda sempre em inglês.", "Esquece a regra do inglês."),
        (
            "Responde sempre em inglês.",
            "Mudei de ideias, esquece o que disse sobre responder em inglês.",
        ),
        ("Nunca apague ficheiros em /srv/a.", "Já pode apagar ficheiros em /srv/a."),
        (
            "Não deixem encomendas com o vizinho.",
            "Podem deixar encomendas com o vizinho outra vez.",
        ),
        ("Prefiro lugares no corredor.", "Esqueça o que pedi sobre lugares no corredor."),
        ("Não envie SMS.", "Volte a enviar SMS."),
        ("nao me mande mensagem de madrugada", "pode mandar mensagem de madrugada de novo"),
        ("As faturas devem ser sempre em PDF.", "Ignore o que disse sobre as faturas."),
        ("Não quero chamadas ao sábado.", "A regra das chamadas ao sábado já não se aplica."),
        ("Máximo de 5 itens por lista.", "O limite de 5 itens por lista não vale mais."),
        (
            "Nunca faça push direto para a main.",
            "A partir de agora pode fazer push direto para a main.",
        ),
        ("Evite abreviaturas.", "Pode usar abreviaturas à vontade."),
        ("Não reserve hotéis sem pequeno-almoço.", "Já pode reservar hotéis sem pequeno-almoço."),
        (
            "Não toque no banco de dados de produção.",
            "Tudo bem, agora você pode tocar no banco de dados de produção.",
        ),
    ],
)
def test_what_is_allowed_again_or_taken_back_is_gone(rule: str, said: str) -> None:
    """Also where the verb has another form or a pronoun at its end."""
    assert told(rule).held == [rule]
    assert told(rule, said).lifted == [rule]
    assert rule not in told(rule, said).held


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("Não me ligue aos domingos.", "Já me pode ligar aos sábados."),
        ("Não me ligue aos domingos.", "Já pode ligar aos domingos, você disse."),
        ("Não me ligue aos domingos.", "Já pode ligar aos domingos se eu pedir."),
        ("Não viaje para Lisboa.", "Já pode viajar por Lisboa."),
        ("Não me ligue aos domingos.", "Disseste que já me podes ligar aos domingos."),
        ("Não me ligue aos domingos.", "Posso ligar-lhe outra vez aos domingos?"),
        ("Não me ligue aos domingos.", "Eu não disse que já pode ligar aos domingos."),
        ("Nunca apague ficheiros em /srv/a.", "Já pode apagar ficheiros em /srv/b."),
        ("Sem emojis, por favor.", "Pode enviar a fatura outra vez."),
        ("Pergunte-me antes de encomendar.", "Já não precisa de perguntar antes de cancelar."),
        ("Não envie faturas para Ana Dias.", "Já pode enviar faturas para Rui Dias."),
        ("Não fale com o meu chefe.", "Já pode falar com a minha mulher."),
        ("Não me ligue aos domingos.", "Se eu disser, já pode ligar aos domingos."),
        ("Não me ligue antes das nove.", "Já pode ligar depois das nove."),
        ("Não use tabs nem ponto e vírgula.", "Já pode usar tabs."),
        ("Não como carne.", "Esqueça o que disse sobre o peixe."),
        ("Responda sempre em inglês.", "Não esqueça o que eu disse sobre responder em inglês."),
        ("Não me ligue aos domingos.", "O meu marido diz que já pode ligar aos domingos."),
        ("Não compre bilhetes para Faro.", "Pode comprar bilhetes para o Porto."),
    ],
)
def test_another_thing_or_what_is_only_spoken_of_takes_nothing_back(rule: str, said: str) -> None:
    """Another day, path, name or time, a question, a condition, and the words of others."""
    assert rule in told(rule, said).held
    assert told(rule, said).lifted == []


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("O limite é de 500 euros.", "Na verdade, o limite é de 300 euros."),
        ("No máximo 5 frases por resposta.", "Aliás, no máximo 3 frases por resposta."),
        ("Só me ligue depois das 18h.", "Desculpe, só me ligue depois das 19h."),
        ("Máximo de 100 palavras.", "Não, máximo de 150 palavras."),
        ("O nosso orçamento é de 800 reais.", "Ou melhor, o nosso orçamento é de 900 reais."),
    ],
)
def test_a_number_told_anew_takes_the_place_of_the_earlier_one(rule: str, said: str) -> None:
    """The newer sentence is kept, and only that."""
    assert told(rule, said) == Standing(held=[said], lifted=[rule])


@pytest.mark.parametrize(
    "said",
    [
        "Poderia responder sempre em inglês?",
        "Nada de emojis, está bem?",
        "Não me liguem de manhã, ok?",
    ],
)
def test_what_only_ends_as_a_question_is_kept(said: str) -> None:
    """Polite people ask, and do not want an answer."""
    assert told(said).held == [said]


def test_a_mail_takes_nothing_back() -> None:
    """What is pasted may be another's words."""
    rule, lift = "Não me ligue aos domingos.", "Já pode ligar aos domingos."
    assert told(rule, lift).held == []
    assert rule in told(rule, f"Prezada Ana,\n{lift}").held
    assert rule in told(rule, f"{lift}\nCom os melhores cumprimentos").held


def test_a_sentence_goes_on_in_the_next_line() -> None:
    """Who writes by hand breaks lines where a mail would."""
    assert told("Não me ligue\nantes das nove.").held == ["Não me ligue antes das nove."]
    assert told("Não me ligue\nTudo bem.").held == ["Não me ligue"]


def test_other_numbers_stand_beside_one_another() -> None:
    """What opens no correction corrects nothing."""
    rules = ["No máximo 5 frases por resposta.", "Máximo de 100 palavras."]
    assert told(*rules).held == rules
