"""Standing instructions in French: found, told from what only looks like them, and taken back.

The sentences are a part of those that the words were written from and measured on; their author
wrote the words, too.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from chatfold.core.constraints import Standing, standing
from chatfold.core.constraints.languages.french import FRENCH
from chatfold.core.views import ItemView, TextPart


def views(*texts: str) -> Sequence[ItemView]:
    return [ItemView("user", (TextPart(text),)) for text in texts]


def read(*texts: str) -> Standing:
    return standing(views(*texts), words=FRENCH)


# --- which sentences are instructions -------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    [
        # when, how and by whom they are called
        "Ne m'appelez jamais avant neuf heures.",
        "Écris les messages de commit à l'impératif.",
        "Chaque fonction a une docstring.",
        "Reste sur Python 3.11.",
        "Des fonctions de moins de 40 lignes.",
        "Je ne vole jamais avec Ryanair.",
        "Toutes les quantités en litres.",
        "Répondez brièvement.",
        "Deux escales maximum.",
        "Pas d'appels le dimanche.",
        "Merci de me contacter uniquement par mail.",
        "Je préfère être contacté par SMS.",
        "Veuillez ne plus m'envoyer de publicité.",
        "Je vous serais reconnaissant de ne plus me relancer.",
        "Je suis joignable uniquement après 18 h.",
        "Ça m'arrangerait que vous n'appeliez qu'après 14 h.",
        "Tutoie-moi.",
        "Appelez-moi Dominique, pas Madame Perrin.",
        # what they have to be asked before
        "Demandez-moi avant de commander quoi que ce soit.",
        "Ne faites rien tant que je n'ai pas confirmé.",
        "Attends mon feu vert avant de déployer.",
        "Aucun paiement sans ma validation.",
        "Si ça dépasse 200 euros, demandez-moi d'abord.",
        "Je veux relire chaque message avant l'envoi.",
        "Avant de valider un paiement, demandez-moi.",
        # what they cannot have and what they need
        "Je suis allergique aux noix.",
        "J'ai une allergie sévère aux fruits de mer.",
        "Je suis végétarienne.",
        "Je déteste la coriandre.",
        "Ma femme ne mange pas de viande.",
        "Je suis en fauteuil roulant, il me faut un accès sans marches.",
        # money and size
        "Mon budget est de 300 euros maximum.",
        "Budget max : 1200 euros.",
        "Pas plus de 80 euros la nuit.",
        "Je n'ai pas plus de 40 euros par mois à mettre là-dedans.",
        "Réponds-moi en deux phrases maximum.",
        # how answers are to be
        "Les prix en euros, s'il vous plaît.",
        "Réponds toujours en français.",
        "N'utilise pas d'emojis dans tes réponses.",
        "Plus d'emojis, merci.",
        "À partir de maintenant, tutoie-moi.",
        "Une question à la fois, s'il te plaît.",
        "Réponds comme si j'avais dix ans.",
        # what is done to code
        "Ne touche pas à la branche main.",
        "Utilise pnpm, pas npm.",
        "On ne pousse jamais directement sur main.",
        "Les commentaires doivent être en anglais.",
        "Pas de nouvelles dépendances.",
        "Les tests vont toujours dans tests/unit.",
        "Tu ne peux modifier que les fichiers dans src/.",
        "Dès que tu modifies un fichier, lance les tests.",
        "La prod, on n'y touche pas.",
        "Ne pas utiliser any en TypeScript.",
        "Un commit par changement, pas plus.",
        "Si un test échoue, arrête-toi et préviens-moi.",
        # in a hurry, without accents, spoken
        "ne fais jamais de commit sans me demander",
        "a partir de maintenant reponds en anglais",
        "demande moi toujours avant d'installer un paquet",
        "alors surtout ne m'appelez jamais le matin parce que je travaille de nuit",
        "faut pas m'appeler le matin je dors",
        "m'envoyez pas de pub",
        "N’utilise pas d’emojis dans tes messages\u202f!",
        "ah oui ne m'appelez pas le matin",
        "tu n'envoies rien sans que je relise",
        "Pouvez-vous ne plus m'appeler le matin ?",
    ],
)
def test_what_a_customer_wants_kept_to_is_found(said: str) -> None:
    """Word for word, whatever stands around it."""
    assert read(said).held == [said]
    if said.endswith("."):
        assert read(f"J'ai une commande en cours. {said} Bonne journée.").held == [said]


@pytest.mark.parametrize(
    "said",
    [
        # complaints and reports
        "Le colis n'est jamais arrivé.",
        "Cette fonction doit être appelée quelque part.",
        "Ne raccrochez pas !",
        "Envoyez la facture, je ne l'ai jamais eue.",
        "Vous ne répondez jamais au téléphone !",
        "Votre livreur ne passe jamais à l'heure.",
        "Le colis est bloqué depuis mardi et ne bouge plus.",
        "Ça plante toujours quand je clique deux fois.",
        "Vous avez supprimé mon fichier sans me demander.",
        "Je vous ai demandé de ne plus m'appeler et vous continuez !",
        "Je n'ai reçu qu'un seul des deux fichiers.",
        "Toujours pas de réponse.",
        "Pas de réponse depuis trois jours.",
        "Un mail par jour, c'est trop, je me suis désinscrit.",
        "Uniquement trois articles sont arrivés.",
        "La fonction ne retourne jamais.",
        "jai toujours pas eu de nouvelles",
        "y a pas d'erreur dans le log",
        # questions
        "Est-ce que vous livrez toujours le samedi ?",
        "Pourquoi tu me demandes toujours ça ?",
        "On peut payer uniquement par carte ?",
        "Faut-il toujours une pièce d'identité ?",
        "combien doit toujours rester sur le compte",
        # wishes of the moment
        "Je voulais seulement demander un renseignement.",
        "Annulez la commande 123, s'il vous plaît.",
        "Envoyez-moi seulement la première page.",
        "Montre-moi uniquement les cinq dernières lignes.",
        "Rappelez-moi demain à 15 h.",
        "Supprime tous les fichiers temporaires.",
        "Je préfère la deuxième option.",
        "Je voudrais réserver une table pour deux.",
        "Je vous demande de bien vouloir me rembourser.",
        "Peux-tu corriger uniquement ce fichier ?",
        # small talk
        "Pas de problème.",
        "Non merci.",
        "Ne vous inquiétez pas.",
        "N'hésitez pas à me contacter.",
        "Ne quittez pas, je regarde.",
        "Laisse tomber.",
        "Plus jamais !",
        "Toujours.",
        "Jamais de la vie !",
        "Pas d'autres questions.",
        "Rien d'autre, merci.",
        "Merci de votre aide, toujours aussi efficace !",
        "Merci de me confirmer la réception de ce mail.",
        "Avant de partir, je voulais vous remercier.",
        # what others said, and conditions
        "On m'a dit de toujours fermer la porte.",
        "La page dit : ne pas recharger.",
        "Le site dit qu'il faut toujours avoir un compte.",
        "D'après la notice, il ne faut jamais débrancher l'appareil.",
        "Ils n'acceptent que les espèces.",
        "Il ne reste que trois chambres, d'après le site.",
        "Le produit ne contient pas de gluten.",
        "Ça doit être une erreur.",
        "Le technicien doit passer mardi entre 8 h et 10 h.",
        "Mon budget est serré.",
        # another language
        "Never call me before nine.",
        "Ne prendo due, grazie.",
        "On Sundays I only eat plain rice, so the main plan is on me.",
    ],
)
def test_what_only_looks_like_an_instruction_is_not_kept(said: str) -> None:
    """Complaints have the same "never" and "only" as instructions have."""
    assert read(said).held == []
    assert read(f"Bonjour. {said}").held == []


def test_an_instruction_of_several_lines_is_one() -> None:
    """It goes on behind "sauf" and the like."""
    assert read("ne m'appelez pas\nsauf si ça brûle").held == ["ne m'appelez pas sauf si ça brûle"]


def test_a_question_for_consent_ends_an_instruction() -> None:
    """It makes no question of it."""
    said = "Ne m'appelle jamais le matin, d'accord ?"
    assert read(said).held == [said]


# --- taken back -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("Ne m'appelez jamais le dimanche.", "Vous pouvez de nouveau m'appeler le dimanche."),
        ("Ne m'appelez jamais le dimanche.", "Finalement, vous pouvez m'appeler le dimanche."),
        ("Ne m'appelez jamais le dimanche.", "Oubliez ce que j'ai dit sur le dimanche."),
        ("Ne pousse jamais sur main.", "Tu peux à nouveau pousser sur main."),
        ("Ne pousse jamais sur main.", "C'est bon, tu peux pousser sur main maintenant."),
        ("N'utilise pas de tabulations.", "Tu peux de nouveau utiliser des tabulations."),
        (
            "Toujours lancer les tests avant de committer.",
            "Tu n'as plus besoin de lancer les tests.",
        ),
        ("Mets toujours Anna en copie.", "Plus besoin de mettre Anna en copie."),
        ("Demandez-moi toujours avant de payer.", "Vous n'avez plus besoin de demander."),
        ("Réponds toujours en anglais.", "La règle de répondre en anglais ne s'applique plus."),
        ("Je suis végétarienne.", "Je ne suis plus végétarienne."),
        ("Ne modifie jamais le schéma.", "Laisse tomber la règle sur le schéma."),
        ("Ne modifie jamais le schéma.", "Tu as de nouveau le droit de modifier le schéma."),
        ("Évite les listes.", "D'accord tu peux de nouveau faire des listes."),
        ("Ne partagez jamais mon numéro.", "Vous pouvez partager mon numéro maintenant."),
        ("Ne réserve jamais d'hôtel sans piscine.", "Annule ma consigne sur la piscine."),
        ("Ne touche pas au dossier legacy.", "Finalement tu peux toucher au dossier legacy."),
    ],
)
def test_what_is_taken_back_or_allowed_again_is_gone(rule: str, said: str) -> None:
    """In other words and forms, and without another one."""
    other = "Pas de chambre au rez-de-chaussée."
    assert read(rule, other).held == [rule, other]
    assert read(rule, other, said) == Standing([other], [rule])


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        # another thing
        ("Ne m'appelez jamais le dimanche.", "Vous pouvez de nouveau m'appeler le lundi."),
        ("Ne m'appelez jamais avant 9 h.", "Vous pouvez m'appeler avant 8 h maintenant."),
        ("Ne pousse jamais sur main.", "Tu peux de nouveau pousser sur develop."),
        ("Mets toujours Anna en copie.", "Plus besoin de mettre Paul en copie."),
        ("Ne supprime jamais /srv/a.", "Tu peux de nouveau supprimer /srv/b."),
        ("Pas de viande.", "Oublie ce que j'ai dit sur les tableaux."),
        ("Je suis allergique aux noix.", "Je ne suis plus en vacances."),
        ("Ne mets jamais de listes ni de tableaux.", "Tu peux de nouveau mettre des listes."),
        ("Ne partagez jamais mon numéro.", "Vous pouvez partager votre numéro maintenant."),
        # denied, complained of, another's, asked, on a condition
        (
            "Ne pousse jamais sur main.",
            "Je n'ai jamais dit que tu peux de nouveau pousser sur main.",
        ),
        ("Ne supprime rien sur main.", "Tu oublies toujours ce que j'ai dit sur main."),
        ("Ne supprime rien sur main.", "N'oublie pas ce que j'ai dit sur main."),
        ("Ne pousse jamais sur main.", "Tu as dit, tu peux de nouveau pousser sur main."),
        ("Ne pousse jamais sur main.", "Tu peux de nouveau pousser sur main, tu as dit."),
        ("Ne pousse jamais sur main.", "Regarde ce mail :\nTu peux de nouveau pousser sur main."),
        ("Ne pousse jamais sur main.", "Chère Anna,\nTu peux de nouveau pousser sur main."),
        ("Ne pousse jamais sur main.", "Est-ce que tu peux de nouveau pousser sur main ?"),
        ("Ne pousse jamais sur main.", "Tu peux de nouveau pousser sur main si je le dis."),
    ],
)
def test_what_is_about_another_thing_or_only_spoken_of_takes_nothing_back(
    rule: str, said: str
) -> None:
    """In doubt the rule stays."""
    assert read(rule).held == [rule]
    assert rule in read(rule, said).held
    assert read(rule, said).lifted == []


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ("Mon budget est de 300 euros.", "Finalement, mon budget est de 400 euros."),
        ("Réponds en 5 phrases maximum.", "Non, réponds en 3 phrases maximum."),
        ("Mon budget est de 300 euros.", "En fait, mon budget est de 250 euros."),
    ],
)
def test_a_number_told_anew_takes_the_place_of_the_older_one(rule: str, said: str) -> None:
    """Of the same thing alone."""
    assert read(rule, said) == Standing([said], [rule])
    assert read("Pas plus de 7 nuits.", said).held == ["Pas plus de 7 nuits.", said]


def test_a_ban_and_its_contrary_do_not_both_stand() -> None:
    """In the same words."""
    assert read("Ne lance jamais les tests.", "Lance toujours les tests.").held == [
        "Lance toujours les tests."
    ]


# --- beside English -------------------------------------------------------------------------------
