"""What gives a turn away: named cues, each a pattern over several languages, read in the person's words.

A cue says nothing by itself; the model weighs them together with what the agent had just done.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from coffer.core.classify.corrections import CORRECTIONS

OTHERS: dict[str, tuple[str, ...]] = {
    "make_sure": (
        (
            r"\b(?:make sure|be sure|ensure|take care|pay attention|careful|achte|assure-toi"
            r"|aseg[úu]rate|certifique)\b"
        ),
    ),
    "leave": (
        (
            r"\b(?:leave|keep)\b.{0,40}\b(?:alone|as (?:is|it is|they are)|untouched|be\b|out|in place"
            r"|the way)\b|\bleave (?:it|that|them|this)\b|\b(?:stay|stays|remain)\b|\bin ruhe\b"
            r"|\bn'y touche\b|\bne touche\b|\bне трогай\b|保留|残し"
        ),
    ),
    "one_off": (
        (
            r"\b(?:(?:just |only )?this (?:once|time|one|round|run|ticket|task|pr|branch|commit"
            r"|session|part|sprint)|for (?:now|this|today|the moment|the time being|the demo"
            r"|the hotfix)|today|tonight|until|for the hotfix|just now|"
            r"in this (?:pr|branch|round|task|ticket)|not (?:yet|today|now)|later|one at a time"
            r"|temporar\w+|for once|meanwhile|here,|throwaway|analysis only|no code changes"
            r"|without (?:changing|any changes)|this ticket)\b"
        ),
        (
            r"\b(?:diesmal|heute|f[üu]r dieses|erstmal|vorerst|prototyp|cette fois|pour (?:l'instant"
            r"|cette|ce)|aujourd'hui|por ahora|esta vez|para esta|hoy|por enquanto|dessa vez|desta vez"
            r"|hoje|per ora|per questa volta|oggi|в этот раз|пока|сегодня|сейчас)\b"
            r"|这次|先别|暂时|这一次|今天|今回|とりあえず|今日"
        ),
    ),
    "scope_lim": (
        (
            r"\b(?:only|just|nothing else|then stop|skip|hold off|don'?t bother|no need|not needed"
            r"|fine (?:here|for)|is enough|is fine|leave)\b|只|だけ|nur|juste|solo|s[óo]\b|только"
        ),
    ),
    "meant": (
        (
            r"\b(?:i meant|i mean|my bad|sorry|actually|i changed my mind|i was mistaken|no wait"
            r"|correction|rather|ich meinte|pardon|perd[óo]n|desculp\w+|scusa|извини)\b|抱歉|我是说|すみません"
        ),
    ),
    "add_also": (
        (
            r"\b(?:also|as well|too|either|in addition|another thing|plus|auch noch|aussi|tamb[ié]+n"
            r"|anche|также|тоже)\b|也|另外|も"
        ),
    ),
    "option": (
        (
            r"^\W*(?:option|the (?:first|second|third|last|other)|first|second|both|all"
            r"|[a-d1-9]\b[.,)]?|variant|neither|none)\b|第[一二三]|番目"
        ),
    ),
    "request": (
        (
            r"^\W*(?:(?:ok|okay|great|nice|cool|now|next|then|and|so|yes|please|thanks|good|perfect"
            r"|alright|hey|hi)\W+)*(?:can (?:you|we|u)|could (?:you|we)|let'?s|please|i(?:'d"
            r"| would) like|i (?:want|need)|add|create|write|implement|"
            r"fix|make|build|update|rename|convert|check|look|run|show|explain|find|try|tell|give"
            r"|investigate|refactor|review|set up|migrate|replace|move|commit|push|read|summari[sz]e"
            r"|test|continue|start|use)\b"
        ),
        (
            r"^(?:请|帮|写|看|改|修)|(?:してください|お願いします)。?$|^(?:kannst du|bitte|peux-tu|puedes|pode|puoi"
            r"|можешь|добавь|сделай)\b"
        ),
    ),
    "report": (
        (
            r"\b(?:fails?|failing|failed|error|errors|crash\w*|broken|bug|doesn'?t work|not working"
            r"|works?|worked|red|exception|timeout|500|404|still (?:reads?|get|see|the|fails?|not)"
            r"|nothing happens|returns|got|getting|says|shows|"
            r"marche|funciona|funziona|работает|падает|fehler|erreur|errore|ошибк\w+)\b|报错|エラー|失败|动かない"
        ),
    ),
    "system_must": (
        (
            r"\b(?:it|users?|they|the (?:[\w-]+ ){1,3}|this (?:function|command|page|dialog|form"
            r"|button|method)|form|page|command|script|button|app|service|bytecode|result|job|file"
            r"|field|column|list|dialog)\s*(?:should|must|shouldn'?t|has to|needs? to|may|can)\b"
        ),
    ),
    "product": (
        (
            r"\b(?:user|users|customer|customers|button|page|dialog|screen|toggle|form|menu|endpoint"
            r"|field|column|table|flag|banner|color|colour|px|sidebar|layout|icon|message says|csv"
            r"|export|import job)\b"
        ),
    ),
    "question": (r"\?|？|吗|か。?$",),
    "ends_q": (r"[?？]\W*$|吗\W*$|か。?\W*$",),
    "wh_q": (
        (
            r"^\W*(?:(?:and|but|so|ok|okay|hmm?|great|cool|question|q)\W+)*(?:what|how|where|which"
            r"|when|who|is|are|does|do|did|can|could|would|should|was|were|has|have|any)\b"
        ),
    ),
    "design": (
        (
            r"\b(?:approach|won'?t work|alternativ\w+|trade-?offs?|downsides?|option|pros|cons|idea"
            r"|in theory|what if|what about|how about|wouldn'?t it|would it|what would)\b"
        ),
    ),
    "tool_word": (
        (
            r"\b(?:edit|write|read|grep|bash|cat|sed|npm|pnpm|yarn|bun|uv|pip|poetry|pytest|unittest"
            r"|jest|vitest|ruff|black|flake8|prettier|eslint|git|gh|rebase|amend|squash|force[- ]push"
            r"|worktree|docker|helm|terraform|kubectl|make|cargo|"
            r"mypy|curl|todo|plan|subagents?|webfetch)\b"
        ),
    ),
    "git_word": (
        (
            r"\b(?:commits?|push(?:e[sd])?|branch(?:es)?|merge|rebase|pr|prs|pull request|co-author\w*"
            r"|trailer|amend|squash|tag|main|master|stash|diff|messages?)\b|提交|推送|分支|コミット|プッシュ|ブランチ"
            r"|коммит\w*|пуш\w*"
        ),
    ),
    "style_word": (
        (
            r"\b(?:comments?|docstrings?|emojis?|names?|naming|imports?|types?|type hints?|tests?"
            r"|mocks?|lints?|format\w*|tabs|spaces|quotes|dependenc\w+|deps|summar\w+|bullets?|prose"
            r"|headings?|dashes|readme|docs?|changelog|prints?|"
            r"logs?|logger|semicolons|exports?|migrations?|generated|lockfile|casts?|any|globals?"
            r"|singletons?|sleeps?|ternar\w+|classes|helpers?|factory|sql|kommentare?|commentaires?"
            r"|comentarios?|tests)\b|注释|测试|样式|コメント|テスト|комментари\w*|тест\w*"
        ),
    ),
    "to_me": (r"\b(?:me|my|i|myself)\b",),
    "ask_first": (
        (
            r"\b(?:ask(?: me)?(?: first| before)?|without (?:asking|telling|my|me|permission|approval)"
            r"|before (?:you|any|changing|committing|pushing|anything)|first|show me|let me (?:see"
            r"|look)|frag|sans demander|sin preguntar|sem perguntar|спроси|разрешени\w+)\b|同意|先に|许可"
        ),
    ),
    "thread_off": (
        (
            r"\b(?:works?|works fine|love|lovely|perfect|nice|good catch|that's (?:the way|how)"
            r"|exactly|stick with it|keep (?:it|doing)|more of those|carry on|like (?:this|that)"
            r"|the way)\b|这样|このまま"
        ),
    ),
    "pejor": (
        (
            r"\b(?:junk|mess|noise|essays?|decoration|playground|giant|huge|whole|entire|everything"
            r"|everywhere|every tiny|all of|so many|bunch|full of|for three|lines? (?:script|diff)"
            r"|overcomplicat\w+|unnecessary|needless|obvious|duplicate\w*|twice)\b"
        ),
    ),
}
"""What else a turn may be: a task, a limit for this time, an outcome, a choice; and what it is about."""

TABLE = {**CORRECTIONS, **OTHERS}


@cache
def patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The cues, compiled at first use."""
    return tuple(
        (name, re.compile("|".join(f"(?:{part})" for part in parts), re.IGNORECASE))
        for name, parts in TABLE.items()
    )


def cues(text: str) -> Iterator[str]:
    """The names of the cues that the text shows."""
    text = text.lower()  # much faster than patterns that ignore case
    for name, pattern in patterns():
        if pattern.search(text):
            yield name
