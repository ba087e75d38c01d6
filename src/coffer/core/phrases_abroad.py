"""Prohibitions in languages other than English: kept word for word, or not at all.

Only clauses that can be read in no other way than as a prohibition: a complaint ("nunca escribes tests") has the
same words, and the opposite meaning.
"""

from __future__ import annotations

import re

from coffer.core.regex import regex

_SPANISH = (
    r"uses|hagas|borres|toques|cambies|añadas|escribas|pongas|crees|edites|modifiques|subas|mezcles|ejecutes|instales"
    r"|pidas|abras|reformatees|renombres|salgas|quites|metas|actualices|reescribas|elimines|agregues|incluyas|dejes"
    r"|generes|comentes|saltes|fuerces|respondas|hables|preguntes|commitees|pushees|mockees|inventes|adivines|toques"
    r"|traduzcas|resumas|expliques|leas|envíes|publiques|asumas"
)
"""Forms that can only forbid: "no escribes tests" complains that there are none."""
FOREIGN = regex(
    (
        rf"[áéíóúñçãõßäöüèêàâîôûœ¿¡]|\b(?:{_SPANISH}|wir|nimm|statt|utilise|usa|usamos|arrête|immer"
        rf"|mehr|ocurra|funciona\w*|compila|sirve|arranca|carga|aparece|entiendo|hay|tengo|puedo|quiero|pasa|falla\w*)\b|"
        r"[぀-ヿ一-鿿а-яё]|\b(?:bitte|nicht|kein(?:e|en)?|nie|immer|das|ich|wir|und|der|die|ne|pas"
        r"|jamais|sur|les|une|et|toujours|siempre|nunca|por|favor|los|las|el|que|eso|esto|hagas"
        r"|uses|sin|não|sempre|uma|non|mai|usare|nel|per|sin|con)\b"
    ),
    re.IGNORECASE,
)
ENGLISH = regex(
    r"\b(?:the|and|you|not|don'?t|please|use|is|it|to|of|for|we|do|never|always|that|with)\b",
    re.IGNORECASE,
)
FORBIDS = regex(
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
    | (?:por\ favor,?\ )?(?:no|nunca)\ (?:SPANISH)\b.+$
    | ni\ se\ te\ ocurra\ \w+(?:ar|er|ir)\b.+$
    | sin\ [\w@.-]+\ en\ (?:los|las|el|la|mis|tus)\ [\w\ ]{3,30}$
    | (?:bitte\ )?keine?n?\ (?!ahnung|problem|sorge|fehler|tests?\b|wunder|grund|zeit|thema|stress|doku|lust|antwort)
      [\w.@/-]+(?:\ \w+)?\ (?:auf|im|in|bei|für|unter)\ (?!.*(?:en|t)$)[\w./\ -]{2,50}$
    | (?!.*\b(?:ich|du|er|sie|es|man|wir|kann|können|will|soll|muss|wird|werden|hat|habe|haben|ist|sind|war
        |warum|wenn)\b)
      [\w./\ -]{3,50}\ (?:bitte\ )?(?:nie|niemals|nicht|nie\ wieder)
        \ (?!.*\bge\w+(?:en|t)$).{0,50}?\w{3,}(?:en|ern|eln)$
    | (?:arrête|arrêtez)\ (?:d(?:e\ |['’])\w+(?:er|ir|re)\b.{3,}|avec\ (?:les|tes|ces)\ (?!erreurs|tests)[\w-]+)$
    | jamais\ (?:directement\ )?(?:sur|dans|de|d['’]|avec|sans)\ ?[\w./\ '’-]{3,50}$
    | 别(?!人|的|处|名|致|说|急|担心|忘|墅|提|再)[^，,。！!]{3,}$
    | (?:por\ favor,?\ )?(?:não|nunca)\ (?:use|faça|apague|toque|mude|adicione|escreva|coloque|crie|edite
      |modifique|suba|rode|instale|peça|abra|renomeie|mexa)\b.+$
    | (?:per\ favore,?\ )?(?:non|mai)\ (?:usare|fare|cancellare|toccare|cambiare|aggiungere|scrivere|mettere
      |creare|modificare|riscrivere|installare|eseguire)\b.+$
    | (?:пожалуйста,?\ )?(?:никогда\ )?не\ \w+(?:(?<![ыио])й|йте|(?<!л)и|ите|(?<!ш)ь|ьте)\b.+$
    | .{0,12}?(?:(?<!要)不要|别再|禁止|请勿|千万别|不准(?!确))[^，,。！!]{2,}$
    | .{2,}(?:しないでください|使わないでください|は禁止です|やめてください|ないでください)$
    )""".replace("SPANISH", _SPANISH),
    re.IGNORECASE | re.VERBOSE,
)
_TOOL = r"[\w@./+-]+(?: [A-Z][\w-]+)?"
CHOOSES = regex(
    rf"""^(?:
      (?:bitte\ )?(?:wir\ )?(?:nimm|nutze?n?|verwende[nt]?|benutze[nt]?|nehmen)\ (?:hier\ )?(?:bitte\ )?
        (?P<de>{_TOOL})(?:\ hier)?(?:,?\ (?:statt|anstatt|anstelle\ von)\ |,\ nicht\ |\ und\ nicht\ |,\ kein\ )
        (?P<deno>{_TOOL})
    | (?:on\ )?utilise[sz]?\ (?P<fr>{_TOOL})(?:\ ici)?(?:,\ pas\ |\ (?:et\ )?pas\ |\ au\ lieu\ de\ |\ plutôt\ que\ )
        (?P<frno>{_TOOL})
    | (?:aquí\ )?(?:usa|usamos|utiliza|utilizamos)\ (?P<es>{_TOOL})(?:\ aquí)?
        (?:,\ (?:y\ )?no\ |\ y\ no\ |\ en\ (?:vez|lugar)\ de\ )(?P<esno>{_TOOL})
    | (?:aqui\ )?(?:usa|use|usamos)\ (?P<pt>{_TOOL})(?:\ aqui)?(?:,\ (?:e\ )?não\ |\ e\ não\ |\ em\ vez\ de\ )
        (?P<ptno>{_TOOL})
    | (?:qui\ )?(?:usa|usiamo)\ (?P<it>{_TOOL})(?:\ qui)?(?:,\ (?:e\ )?non\ |\ e\ non\ |\ invece\ di\ )(?P<itno>{_TOOL})
    | (?:используй|мы\ используем)\ (?P<ru>{_TOOL})(?:,\ (?:а\ )?не\ |\ вместо\ )(?P<runo>{_TOOL})
    | (?:[^，,。]{{0,14}}?)用\ ?(?P<zh>[\w@./+-]+?)\ ?[,，]?\ ?(?:不用|不要用|别用|而不是|代替)\ ?(?P<zhno>[\w@./+-]+)
    | (?P<ja>[\w@./+-]+?)\ ?(?:ではなく|じゃなくて)\ ?(?P<jano>[\w@./+-]+?)\ ?を使って(?:ください)?
    )$""",
    re.IGNORECASE | re.VERBOSE,
)
"""One tool and not another, kept whole; both must be named, or it is a fact about something else."""
ALWAYS = regex(
    r"""^(?:
      (?!.*\b(?:ich|du|warum|wenn|ist|sind|hat|habe|fehl\w*)\b)[\w./\ -]{3,50}\ (?:bitte\ )?immer
        \ (?:auf|in|mit|als|über|nur|erst)
        \ [\w./\ -]{3,50}
    | (?:los|las|el|la)\ [\w\ ]{3,40}\ siempre\ (?:en|con|como|por)\ [\w\ ]{3,40}
    | (?:les?|la|l['’])\ ?[\w\ ]{3,40}\ toujours\ (?:en|avec|par|comme)\ [\w\ ]{3,40}
    | demande-moi\ (?:toujours\ )?avant\ (?:de\ |d['’])\w+.{0,50}
    | pregúntame\ (?:siempre\ )?antes\ de\ \w+.{0,50}
    | (?:bitte\ )?frag(?:e)?\ (?:mich\ )?(?:immer\ )?(?:zuerst\ )?,?\ ?bevor\ du\ [\w\ ]{3,50}
    )$""",
    re.IGNORECASE | re.VERBOSE,
)
"""How something is always done, in words that name no failure."""
NOUN_ONLY = (
    (regex(r"^(keine?n?) ([\w.@/-]+)$", re.IGNORECASE), r"\1 \2 verwenden"),
    (regex(r"^pas d['’]([\w.@/-]+)(.*)$", re.IGNORECASE), r"ne pas utiliser d'\1\2"),
    (regex(r"^pas de ([\w.@/-]+)(.*)$", re.IGNORECASE), r"ne pas utiliser \1\2"),
)
UNBOUND = regex(
    (
        r"\b(?:das|es|dies(?:e[rsn]?)?|so|ihn|sie|ça|cela|celui|comme ça|eso|esto|lo|la|así|isso"
        r"|isto|assim|ciò|così|questo|это|его|её|так|этого|einfach|nur|bloß|solo|seulement|soltanto"
        r"|apenas|только|просто|alles|tutto|todo|tudo|tout|всё)\b|这(?!个?(?:项目|仓库|库|代码库|工程))|那|它|此|それ"
        r"|これ|あれ|その|この(?!プロジェクト"
        r"|リポジトリ)|そう|のような"
    ),
    re.IGNORECASE,
)
RELATIVE = regex(
    r",\s+(?:die|der|das|den|dem|deren|was|wenn|falls|bis|außer|solange|bevor|nachdem|qui|que|dont|quand|si|sauf|che"
    r"|cui|se|quando|salvo|cuando|котор\w+|если|кроме|чтобы|пока)\b",
    re.IGNORECASE,
)
"""A clause after the comma that narrows what stands before it."""
LIMITED = regex(
    r"\b(?:diesmal|heute|erstmal|vorerst|für dieses|jetzt noch|cette fois|pour l'instant"
    r"|aujourd'hui|hoy|esta vez|por ahora|hoje|dessa vez|por enquanto|oggi|per ora"
    r"|questa volta|сегодня|пока|в этот раз|wenn|falls|außer|si|sauf|salvo|se|если|кроме)\b"
    r"|这次|先别|暂时|今回|とりあえず|今日|如果|除非|場合",
    re.IGNORECASE,
)


QUESTION = regex(r"[?？]")
FORE = regex(
    r"^(?:(?:nein|non|no|não|нет|ok)[,，!]\s*|(?:und|et|ja|oui|sí)[,，]?\s+|但是?|以后[,，]?\s*|(?:bitte"
    r"|por favor|per favore|请)[,，]?\s*)+",
    re.IGNORECASE,
)
AFTER = regex(
    r"(?:,?\s+(?:bitte|por favor|s['’]il te pla[îi]t|stp|per favore|пожалуйста|mehr|hier|ici))+$",
    re.IGNORECASE,
)


def _plain(part: str) -> str:
    """The clause without what is said around it in politeness."""
    return AFTER.sub("", FORE.sub("", part.strip(" ,，.!。！"))).strip(" ,，.!。！")


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
    bans = [_plain(part) for part in parts if not QUESTION.search(part) and FORBIDS.match(_plain(part))]
    wholes = [
        _plain(part) for part in re.split(r"(?<=[!?。！？;；])\s*|(?<=\.)\s+|\n+", said) if part.strip()
    ]
    chosen = [part for part in wholes if CHOOSES.match(part) or ALWAYS.match(part)]
    if len(chosen) == 1 and len(bans) <= 1 and (not bans or bans[0] in chosen[0]):
        bans = chosen
    if len(bans) != 1:
        return "", "several rules in one turn" if bans else "nothing that forbids in so many words"
    ban = re.sub(
        r"^(?:bitte|por favor|s'il te plaît|per favore|пожалуйста),?\s+", "", bans[0], flags=re.IGNORECASE
    )
    for pattern, form in NOUN_ONLY:
        ban = pattern.sub(form, ban)
    if UNBOUND.search(ban) or LIMITED.search(said.replace("ni se te ocurra", "ni")) or len(ban) > 160:
        return "", "points at something outside the sentence, or holds a condition"
    full = "。" if re.search(r"[぀-ヿ一-鿿]", ban) else "."
    return (ban if full == "。" else ban[:1].upper() + ban[1:]) + full, ""
