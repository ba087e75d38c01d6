"""How choices and open ends are said in French, Spanish, Portuguese, Chinese and Japanese.

Only the plain ways: a cue that is often something else would put noise into every entry. Written by hand and tried on
written examples: no transcripts in these languages were there to measure them on.
"""

from __future__ import annotations

import re

from coffer.core.regex import regex

_CHOOSES = regex(
    r"\b(?:(?:j'ai|nous avons|on a) (?:décidé|choisi|opté)|(?:utilisons|gardons|prenons|restons)\b|plutôt que"
    r"|au lieu d[e']"
    r"|(?:he|hemos) (?:decidido|elegido|optado)|decidimos|elegimos|usaremos|(?:usemos|mantengamos)\b|en (?:vez"
    r"|lugar) de"
    r"|(?:decidi(?:mos)?|escolhi|escolhemos|optei|optamos) (?:por|usar|manter)|vamos (?:usar|manter)|em vez de)"
    r"|决定(?:使用|采用|用|不|保留|改)|选择了|改用|(?:而不是|而非)|就用"
    r"|(?:に|ことに)(?:決め|決定)|を採用(?:し|する)|ではなく.{1,60}(?:使|用い|採用)|(?:こと)にした",
    re.IGNORECASE,
)
_REASON = regex(
    r"\b(?:parce qu|car|puisqu|afin d|pour (?:éviter|que)|porque|ya que|para (?:evitar|que)|así|pois|já que)|[—–:]\s"
    r"|因为|由于|以免|避免|这样|ため|ので|から|防ぐ",
    re.IGNORECASE,
)
_FIRM = regex(
    r"\b(?:décidé|choisi|opté|decidi\w*|decidido|elegi\w*|optado|escolh\w+)\b|决定|选择了|決め|決定|採用|ことにした",
    re.IGNORECASE,
)
_UNSURE = regex(
    r"[?？]\s*$|^(?:si |se |¿|如果|要是|もし)|\b(?:pourrait|pourrions|faudrait-il|podríamos|podría|poderíamos|talvez"
    r"|quizás|peut-être)\b|是否|要不要|可能|かもしれ|でしょうか|ますか",
    re.IGNORECASE,
)
_OPEN = regex(
    r"\b(?:reste à (?:faire|tester|corriger|vérifier)|pas encore (?:fait|testé|implémenté|terminé|corrigé)"
    r"|prochaines étapes?|je n'ai pas pu|queda(?:n)? (?:pendiente|por)|(?:aún|todavía) no (?:está|se|he|hemos)"
    r"|sin (?:probar|terminar)|próximos pasos|no (?:pude|se pudo)|falta(?:m|n)? (?:testar|implementar|corrigir"
    r"|probar|hacer|fazer)"
    r"|ainda não (?:foi|está|testei|implementei)|próximos passos|não (?:consegui|foi possível))\b"
    r"|尚未|还没(?:有)?(?:测试|实现|完成|修复|验证)|还需要|待办|未能|无法(?:测试|验证|运行)|下一步"
    r"|未(?:実装|対応|テスト|検証|完了)|まだ.{0,30}(?:ていません|ていない|未)|残って(?:いる|います)|今後の(?:課題|作業)|できませんでした",
    re.IGNORECASE,
)
_SHORTEST = 8
"""Characters: scripts without spaces say much in few."""


def chooses_abroad(sentence: str, *, reason: bool = False) -> bool:
    """Whether it states a choice. reason: only one that says why, or that it is a decision."""
    said = sentence.replace("’", "'")
    if not _SHORTEST <= len(said) <= 600 or _UNSURE.search(said) or not _CHOOSES.search(said):
        return False
    return not reason or bool(_REASON.search(said) or _FIRM.search(said))


def leaves_open_abroad(sentence: str) -> bool:
    """Whether it says that something is not done."""
    return bool(_OPEN.search(sentence.replace("’", "'")))
