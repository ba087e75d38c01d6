"""Prohibitions in languages other than English: kept word for word, or not at all.

Only clauses that can be read in no other way than as a prohibition: a complaint ("nunca escribes tests") has the
same words, and the opposite meaning.
"""

from __future__ import annotations

import re

FOREIGN = re.compile(
    (
        r"[぀-ヿ一-鿿а-яё]|\b(?:bitte|nicht|kein(?:e|en)?|nie|immer|das|ich|wir|und|der|die|ne|pas"
        r"|jamais|sur|les|une|et|toujours|siempre|nunca|por|favor|los|las|el|que|eso|esto|hagas"
        r"|uses|sin|não|sempre|uma|non|mai|usare|nel|per|sin|con)\b"
    ),
    re.IGNORECASE,
)
ENGLISH = re.compile(
    r"\b(?:the|and|you|not|don'?t|please|use|is|it|to|of|for|we|do|never|always|that|with)\b",
    re.IGNORECASE,
)
FORBIDS = re.compile(
    r"""^(?:
      (?:bitte\ )?(?:nie|niemals|nicht|keine?[nr]?)\ (?!.*\b(?:ge\w+|\w+(?:standen|loren|gessen
      |worden)|haben|sein|werden
      |können|müssen|bekommen)$).{3,}?(?:en|ern|eln)$
    | (?:bitte\ )?keine?n?\ (?!ahnung|problem|sorge|fehler|tests?\b|wunder|grund
      |zeit|thema|stress|doku|kommentare?$)[\w.@/-]+$
    | (?:s'il\ te\ pla[îi]t,?\ )?pas\ d(?:e\ |['’])(?!probl|souci|quoi|erreur|test
      |doc|chance|raison)[\w.@/-]+(?:\ (?:sur
      |dans)\ .{3,60})?$
    | (?:s'il\ te\ pla[îi]t,?\ )?(?:ne\ |n['’])(?:touche|modifie|supprime|pousse|commite|committe|utilise|ajoute
      |change|efface|écris|mets|fais|fusionne|crée|lance|installe|demande|réécris|renomme|laisse)z?\b
      .{0,40}\b(?:pas|jamais|plus)\b.*$
    | (?:por\ favor,?\ )?(?:no|nunca)\ (?:uses|hagas|borres|toques|cambies|añadas|escribas|pongas|crees
      |edites|modifiques|subas|mezcles|ejecutes|instales|pidas|abras|reformatees|renombres)\b.+$
    | (?:por\ favor,?\ )?(?:não|nunca)\ (?:use|faça|apague|toque|mude|adicione|escreva|coloque|crie|edite
      |modifique|suba|rode|instale|peça|abra|renomeie|mexa)\b.+$
    | (?:per\ favore,?\ )?(?:non|mai)\ (?:usare|fare|cancellare|toccare|cambiare|aggiungere|scrivere|mettere
      |creare|modificare|riscrivere|installare|eseguire)\b.+$
    | (?:пожалуйста,?\ )?(?:никогда\ )?не\ \w+(?:(?<![ыио])й|йте|(?<!л)и|ите|(?<!ш)ь|ьте)\b.+$
    | .{0,12}?(?:(?<!要)不要|别再|禁止|请勿|千万别|不准(?!确))[^，,。！!]{2,}$
    | .{2,}(?:しないでください|使わないでください|は禁止です|やめてください|ないでください)$
    )""",
    re.IGNORECASE | re.VERBOSE,
)
NOUN_ONLY = (
    (re.compile(r"^(keine?n?) ([\w.@/-]+)$", re.IGNORECASE), r"\1 \2 verwenden"),
    (re.compile(r"^pas de ([\w.@/-]+)(.*)$", re.IGNORECASE), r"ne pas utiliser \1\2"),
)
UNBOUND = re.compile(
    (
        r"\b(?:das|es|dies(?:e[rsn]?)?|so|ihn|sie|ça|cela|celui|comme ça|eso|esto|lo|la|así|isso"
        r"|isto|assim|ciò|così|questo|это|его|её|так|этого|einfach|nur|bloß|solo|seulement|soltanto|apenas|только|просто|alles|tutto|todo|tudo|tout|всё)\b|这|那|它|此|それ|これ|あれ|その|この(?!プロジェクト"
        r"|リポジトリ)|そう|のような"
    ),
    re.IGNORECASE,
)
RELATIVE = re.compile(
    r",\s+(?:die|der|das|den|dem|deren|was|wenn|falls|bis|außer|solange|bevor|nachdem|qui|que|dont|quand|si|sauf|che"
    r"|cui|se|quando|salvo|cuando|котор\w+|если|кроме|чтобы|пока)\b",
    re.IGNORECASE,
)
"""A clause after the comma that narrows what stands before it."""
LIMITED = re.compile(
    r"\b(?:diesmal|heute|erstmal|vorerst|für dieses|jetzt noch|cette fois|pour l'instant"
    r"|aujourd'hui|hoy|esta vez|por ahora|hoje|dessa vez|por enquanto|oggi|per ora"
    r"|questa volta|сегодня|пока|в этот раз|wenn|falls|außer|si|sauf|salvo|se|если|кроме)\b"
    r"|这次|先别|暂时|今回|とりあえず|今日|如果|除非|場合",
    re.IGNORECASE,
)


def is_foreign(said: str) -> bool:
    """Whether the text is not English."""
    return len(FOREIGN.findall(said)) > len(ENGLISH.findall(said))


def foreign_rule(said: str) -> tuple[str, str]:
    """A prohibition in the person's own language and words, or why there is none."""
    if RELATIVE.search(said):
        return "", "holds a condition"
    parts = [
        part.strip(" ,，")
        for part in re.split(r"(?<=[!?。！？;；:：])\s*|(?<=\.)\s+|\n+|,\s+|，|,(?=[一-鿿])", said)
        if part.strip()
    ]
    bans = [
        part.strip(" .!。！")
        for part in parts
        if "?" not in part and "？" not in part and FORBIDS.match(part.strip(" .!。！"))
    ]
    if len(bans) != 1:
        return "", "several rules in one turn" if bans else "nothing that forbids in so many words"
    ban = re.sub(
        r"^(?:bitte|por favor|s'il te plaît|per favore|пожалуйста),?\s+", "", bans[0], flags=re.IGNORECASE
    )
    for pattern, form in NOUN_ONLY:
        ban = pattern.sub(form, ban)
    if UNBOUND.search(ban) or LIMITED.search(said) or len(ban) > 160:
        return "", "points at something outside the sentence, or holds a condition"
    full = "。" if re.search(r"[぀-ヿ一-鿿]", ban) else "."
    return (ban if full == "。" else ban[:1].upper() + ban[1:]) + full, ""
