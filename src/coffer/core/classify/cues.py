"""What gives a turn away: named cues, each a pattern over several languages, read in the person's words.

A cue says nothing by itself; the model weighs them together with what the agent had just done. English,
German, French, Spanish, Portuguese, Italian, Russian in one alternation; Chinese and Japanese have no word
boundaries and stand last.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

_START = r"(?:^|[.!?;:,\n…]|[-–—]\s|\b(?:please|pls|plz|and|but|so|just|also|ok|okay|then|always|yes|no)\b)\s*"
_VERB = (
    r"(?:add|use|do|put|write|create|make|touch|change|edit|run|commit|push|delete|remove|open|ask|guess|mock|log"
    r"|merge|rebase|amend|squash|install|import|assume|skip|leave|modify|include|store|keep|call|start|stop|wrap"
    r"|explain|reformat|format|rename|rewrite|overwrite|refactor|bump|mark|mix|print|post|pin|give|tell|say|repeat"
    r"|commit|hardcode|invent|copy|mention|return|throw|catch|swallow|ignore|disable|build|deploy|stash|generate"
    r"|wipe|read|cat|grep|fetch|download|send|show|apologi[sz]e|summari[sz]e|apply|work|answer|reply|reference)"
)

TABLE: dict[str, tuple[str, ...]] = {
    "dont": (
        rf"{_START}(?:do\s?n[o']?t|don’t|do not|never(?: ever)?|stop|quit|avoid|refrain from|no more|not)\s+(?:\w+ly\s+)?"
        rf"(?:{_VERB}|\w+ing)\b",
        r"\b(?:bitte\s+)?(?:kein(?:e|en|er)?|nicht|nie|niemals|nie wieder)\b.{0,50}\b\w+en\b|\blass das\b",
        r"\b(?:ne|n['’])\s?\w+.{0,25}\b(?:pas|jamais|plus)\b|\barr[êe]te\b|\bpas de\b|\bjamais\b",
        r"\b(?:no|nunca|jam[áa]s|deja de|ni se te ocurra)\s+\w+(?:es|as|ar|er|ir)\b",
        r"\b(?:n[ãa]o|nunca|para de|jamais)\s+\w+|\b(?:non|mai|smetti di|niente)\s+\w+(?:re|ere|i)\b",
        r"\bне\s+(?:надо|нужно|стоит|\w+(?:й|йте|ь|ьте))\b|\bникогда\b|\bперестань\b|\bхватит\b|\bбольше (?:его |её )?не\b",
        r"不要|别再|禁止|请勿|千万别|不准|别(?!人|的|处)|しないで|やめて|禁止|ないでください|使わないで",
    ),
    "never": (
        r"\b(?:never|not ever|under no circumstances|ever again|\w+ is off limits|banned|forbidden|no go|not allowed"
        r"|hands off|tabu|verboten|niemals|jamais|nunca|mai|никогда|нельзя|запрещено|interdit|prohibido|proibido)\b",
        r"\bno\s[\w@.`-]+(?:\s[\w-]+)?\.?\s+(?:ever|please|pls|here)\b|绝对不|永远不要|决不|禁止|絶対",
    ),
    "no_noun": (
        r"(?:^|[.!:;,\n]|\bplease|\bpls|\bbitte)\s*(?:ugh\W+)?no\s+(?!idea|worries|problem|need|longer|one\b|error|luck"
        r"|dialog|output|change|prob|matter|clue|further|issue|rush|wait|difference|doubt|i\b|we\b|it\b|that|the\b|you"
        r"|not\b|don|response|result|warn|log\b|sign|new\b)[\w@.`/*-]+",
        r"\b(?:kein(?:e|en)?|sans|pas de|sin|sem|niente|senza|без)\s+\w+",
    ),
    "stop": (r"\b(?:stop|quit|cut|drop|enough|knock it off|arr[êe]te[sz]?|deja de|para de|smetti|хватит|перестань)\b|别再|やめて",),
    "no_first": (
        r"^\W*(?:no|nope|nah|noo+|nein|non|n[ãa]o|нет|不对|不是|いや|違います)\b(?!\s+(?:idea|worries|problem|need|one"
        r"|error|dialog|prob|luck|clue))",
    ),
    "instead": (
        r"\b(?:instead|rather than|in place of|over\s+\w+|statt(?:dessen)?|plut[ôo]t|au lieu|en lugar de|en vez de"
        r"|em vez de|ao inv[ée]s|invece|вместо|а не)\b|而不是|改用|代わり",
    ),
    "not_x": (
        r"\w[\w`)]*,\s*(?:and\s+)?(?:not|never|no)\s+\w|\bnot\s+\w+(?:\s\w+)?,?\s+but\b|\w+ and not \w+",
        r",\s*(?:nicht|pas|no|n[ãa]o|non|не)\s+\w+|不用|ではなく",
    ),
    "use": (
        rf"{_START}(?:use|go with|stick (?:to|with)|switch to|nimm|nutze|verwende|benutze|utilise|usa|utiliza|используй|prefer)\s",
        r"\bpls\W*$|用(?!户|例)|使って",
    ),
    "we": (
        r"\b(?:we(?:'re| are)? (?:use|do|don'?t|never|always|only|keep|prefer|merge|call|name|write|have|run|on|number"
        r"|try|avoid|moved|put|agreed|banned|want|went|settled|stopped|go)|our \w+|in our|bei uns|wir (?:nehmen|nutzen"
        r"|haben|benutzen|verwenden|machen|duzen)|on (?:utilise|n'utilise|fait|[ée]crit|est)|usamos|nosotros|a gente usa"
        r"|qui usiamo|мы (?:используем|пишем|не)|у нас)\b|我们|うちでは|使っています|統一",
    ),
    "here": (
        r"\b(?:in|for|on|of) (?:this|the|our) (?:repo(?:sitory)?|project|codebase|code base|team|app|engine|lib(?:rary)?"
        r"|monorepo|product|house|package|crate|module)\b|\b(?:around|over|round) here\b|\bin here\b|\bhere\b",
        r"\bin (?:diesem|dem) (?:projekt|repo)\b|\b(?:dans|sur) ce (?:projet|d[ée]p[ôo]t)\b|\ben este (?:proyecto|repo)"
        r"|\bneste projeto\b|\bin questo progetto\b|\bв (?:этом|нашем) проекте\b|项目|仓库|プロジェクト|リポジトリ",
    ),
    "lasting": (
        r"\b(?:from (?:now|here|this point) on(?:wards?)?|going forward|in (?:the )?future|for (?:the )?future|next time"
        r"|every ?time|each time|any ?time|whenever|in general|generally|by default|as a rule|everywhere|at all times"
        r"|all (?:the )?(?:my|our|your|future) \w+|in every|for (?:every|any|all|each)|any script|for later|anything new"
        r"|ever|across all|nowhere else|wherever|for next|no exceptions|this goes for|that goes for|applies to|same for)\b",
        r"\b(?:ab (?:jetzt|sofort)|k[üu]nftig|in zukunft|immer|jedes mal|[àa] partir de maintenant|toujours|[àa] chaque fois"
        r"|d[ée]sormais|a partir de ahora|de ahora en adelante|siempre|cada vez|a partir de agora|sempre|toda vez"
        r"|d'ora in poi|впредь|теперь|всегда|каждый раз)\b|以后|今后|每次|总是|所有|統一|今後|これから|毎回|必ず|常に",
    ),
    "always": (r"\b(?:always|every|only|must|has to|have to|immer|nur|toujours|siempre|solo|sempre|s[óo]|всегда|только)\b|必须|只|必ず",),
    "prefer": (
        r"\bi(?:'d| would)? (?:\w+ )?(?:prefer|rather|like|love|want|hate|dislike|don'?t (?:like|want|need)|need|name|usually"
        r"|normally|always|never|expect|write|use)\b|\bi(?:'m| am) (?:on|a|not a|used)\b|\bmag (?:ich|keine)\b",
        r"\b(?:je pr[ée]f[èe]re|j'aime|prefiero|me gusta|prefiro|gosto|preferisco|я предпочитаю|мне нравится)\b|我喜欢|好き",
    ),
    "note": (
        r"\b(?:fyi|fwiw|btw|by the way|heads up|keep in mind|bear in mind|remember|note|notes|convention|conventions|rule"
        r"|rules|one thing|just so you know|for reference|small thing|policy|style|guideline|guidelines|company|claude\.md"
        r"|agents\.md|memori[sz]e|context about me|working with me|before (?:we|you) (?:start|begin)|as usual)\b",
        r"\b(?:grunds[äa]tzlich|[üu]brigens|merk dir|note bien|retiens|recuerda|ten en cuenta|lembre|ricorda|запомни)\b"
        r"|顺便|记住|注意|なお|ちなみに|覚えて",
    ),
    "approve": (
        r"^\W*(?:yes|yep|yeah|yup|ok|okay|sure|lgtm|great|perfect|nice|good|cool|awesome|love(?:ly)?|sweet|thanks|thank you"
        r"|ty|fine|sounds good|looks? (?:good|right)|exactly|go ahead|ja|super|gut|oui|merci|s[íi]|gracias|listo|sim|obrigad"
        r"|show|bene|grazie|да|спасибо|отлично|хорошо)\b|^(?:好|可以|行|はい|ありがとう|いい)",
    ),
    "why_you": (
        r"\b(?:why|what made|how come|what for|what happened)\b.{0,40}\b(?:you|did|are we|do we|is|was|did we)\b|\bwhy (?:the|a|all|this|so)\b",
        r"\b(?:warum|wieso|weshalb|pourquoi|por qu[ée]|perch[ée]|зачем|почему)\b|为什么|干嘛|なぜ|どうして",
    ),
    "why_did": (
        r"\bwhy(?:'d| did| are| do| have| would| were| must| is there| are there|'s)\s+(?:you|there|my|it all|we (?:still|again))\b",
        r"\bwarum (?:hast|legst|machst|sind) |\bpourquoi (?:as-tu|tu|tous|avoir)|\bpor qu[ée] (?:has|voc[êe])|\bperch[ée] hai|\bзачем ты"
        r"|为什么要|变更|なぜ.*まで|なぜ.*変え|なぜ.*しました",
    ),
    "who_asked": (
        r"\b(?:who (?:asked|told|said)|did i (?:ask|tell|say)|(?:nobody|i never|i didn'?t|no one) (?:asked|ask|want|wanted|told|said)"
        r"|i (?:only |just )?(?:asked|said|told|meant|wanted)|as i said|like i said|i keep|i've (?:said|told|asked|answered)"
        r"|not what i|i wasn'?t asking|without (?:asking|telling|being)|on your own|unasked|not asked)\b",
        r"\b(?:hab(?:e)? ich|ich (?:hatte|wollte)|je t'avais|je n'ai pas demand|qui t'a|qui[ée]n te|no te ped|te ped[íi]|n[ãa]o pedi"
        r"|eu pedi|non ho chiesto|просил|я же|кто тебя)\b|谁让你|我只|让你|我说|と言い|頼んで",
    ),
    "again": (
        r"\b(?:again|still|already|once more|second time|third time|times|how many times|another|keep(?:s)? \w+ing|yet again|repeat"
        r"|schon wieder|immer noch|encore|otra vez|de nuevo|de novo|ancora|опять|снова|уже)\b|又|再次|还在|また|まだ",
    ),
    "undo": (
        r"(?:^|[.!,:;\n]|\b(?:please|pls|can you|could you|and|just|ok|so|oh no|them|then)\b)\s*(?:undo|revert|restore|roll ?back|take\b.{0,30}\b(?:out|back|off)|put\b.{0,40}\bback|"
        r"bring\b.{0,30}\bback|back to|delete|remove|drop|rip|downgrade|abort|cancel|get rid|turn .{2,20} (?:on|off) again|enable it again|git (?:checkout|reset|restore|revert))\b",
        r"\b(?:r[üu]ckg[äa]ngig|auf den alten stand|zur[üu]ck(?:setzen|nehmen)?|wieder weg|remets|annule|enl[èe]ve|supprime|deshaz|devu[ée]lve"
        r"|revierte|quita|desfaz|desfa[çc]a|remov[ea]|annulla|rimetti|togli|ripristina|верни|убери|откати|отмени)\w*\b|恢复|撤销|还原|删掉|改回|元に戻|取り消|消して",
    ),
    "restored": (r"\b(?:undo|revert|restore|back|again|reset|rollback|zur[üu]ck|wieder)\b|恢复|改回|元に戻",),
    "annoyed": (
        r"\b(?:seriously|really|come on|ugh+|wtf|oh no|oh great|noo+|lol|dude|man|omg|sigh|excuse me|you what|srsly|hello|ffs|jeez|geez|come on|hmm?"
        r"|s[ée]rio|en serio|ernsthaft|im ernst|davvero|серьёзно|серьезно)\b|\?\?+|!!+|[?!]{2,}|…|\.\.\.",
    ),
    "you_did": (
        r"\byou(?:'ve| have)?\s+(?:just |also |even |again |already |only |still |always )?(?:changed?|added?|deleted?|removed?|committed|pushed|bumped|said|put|wrote|made|used?|did(?:n'?t)?"
        r"|forgot|missed|ignored|skipped|broke|reverted|renamed|moved|touched|ran|left|squashed|posted|commented|kept|keep|don'?t|could have|were|should|shouldn'?t|told|uploaded|create|created)\b",
        r"\bdu hast\b|\btu as\b|\bhas (?:cambiado|borrado)\b|\bvoc[êe] (?:mudou|apagou)\b|\bhai (?:cambiato|tolto)\b|\bты (?:опять|снова|\w+л)\b|你怎么|你又|你为什么",
    ),
    "were_you": (r"\b(?:you|your)\b|\b(?:du|dir|dich|dein\w*|tu|toi|t[úu]|voc[êe]|ты|тебя)\b|你|あなた",),
    "should_q": (
        r"\b(?:should(?:n'?t|nt)?|would(?:n'?t)?|could(?:n'?t)?|isn'?t|aren'?t|doesn'?t|don'?t|didn'?t|haven'?t|wasn'?t|weren'?t|shoudl)\s+(?:it|this|that|we|you|there|they|be|the)\b[^.!\n]*\?",
    ),
    "neg_q": (
        r"\b(?:n't|not|no|never|without|lost|missing|gone|forgot\w*)\b[^.!\n]{0,60}\?|\b(?:nicht|kein\w*|pas|не)\b[^.!\n]{0,60}\?",
    ),
    "observed_q": (r"^\W*(?:(?:ok|hmm?|wait|um|so|and|but|hey|oh|ehm?)\W+)?(?:there(?:'s| is| are)|these|this|that|those|it|we|you|i|my|the|a|an|another)\b[^.!\n?]{2,90}\?\s*$",),
    "should": (
        r"\b(?:should|shouldn'?t|must(?:n'?t)?|need(?:s)? to|ought|supposed|belong(?:s)?|has to|have to|live(?:s)?|go(?:es)? (?:in|to|into|through|under|next)|doit|debe|deve|должн\w+|soll(?:en|te)?|m[üu]ss\w*)\b|应该|べき",
    ),
    "better": (
        r"\b(?:better|i(?:'d| would) (?:rather|say|have expected)|maybe|perhaps|i think|i believe|i doubt|i'?m not sure|not sure|not so useful|useful|useless|doesn'?t feel right|overkill|too (?:much|many|long)|worried|"
        r"wondering|i wonder|hm+|given|lieber|besser|plut[ôo]t|mejor|melhor|meglio|лучше)\b|最好|方がいい",
    ),
    "wrong": (
        r"\b(?:wrong|incorrect|not (?:correct|right|true|ok|okay|fine|acceptable|how)|unreadable|useless|noise|cheating|bad|broke[n]?|ruins?|kills?|defeats|hits|falsch|faux|mal|errado|sbagliato|неправильно)\b|不对|错|違",
    ),
    "reason": (r"\b(?:because|since|so that|otherwise|that'?s why|which is why|that'?s what|as (?:that|it|they|we)|for a reason|on purpose|weil|sonst|car|sinon|porque|pois|perch[ée]|потому|иначе|or (?:else|\w+ (?:breaks|stops)))\b|因为|否则|ので|から",),
    "make_sure": (r"\b(?:make sure|be sure|ensure|take care|pay attention|careful|achte|assure-toi|aseg[úu]rate|certifique)\b",),
    "leave": (
        r"\b(?:leave|keep)\b.{0,40}\b(?:alone|as (?:is|it is|they are)|untouched|be\b|out|in place|the way)\b|\bleave (?:it|that|them|this)\b|\b(?:stay|stays|remain)\b|\bin ruhe\b|\bn'y touche\b|\bne touche\b|\bне трогай\b|保留|残し",
    ),
    "one_off": (
        r"\b(?:(?:just |only )?this (?:once|time|one|round|run|ticket|task|pr|branch|commit|session|part|sprint)|for (?:now|this|today|the moment|the time being|the demo|the hotfix)|today|tonight|until|for the hotfix|just now|"
        r"in this (?:pr|branch|round|task|ticket)|not (?:yet|today|now)|later|one at a time|temporar\w+|for once|meanwhile|here,|throwaway|analysis only|no code changes|without (?:changing|any changes)|this ticket)\b",
        r"\b(?:diesmal|heute|f[üu]r dieses|erstmal|vorerst|prototyp|cette fois|pour (?:l'instant|cette|ce)|aujourd'hui|por ahora|esta vez|para esta|hoy|por enquanto|dessa vez|desta vez|hoje|per ora|per questa volta|oggi|в этот раз|пока|сегодня|сейчас)\b"
        r"|这次|先别|暂时|这一次|今天|今回|とりあえず|今日",
    ),
    "scope_lim": (r"\b(?:only|just|nothing else|then stop|skip|hold off|don'?t bother|no need|not needed|fine (?:here|for)|is enough|is fine|leave)\b|只|だけ|nur|juste|solo|s[óo]\b|только",),
    "meant": (r"\b(?:i meant|i mean|my bad|sorry|actually|i changed my mind|i was mistaken|no wait|correction|rather|ich meinte|pardon|perd[óo]n|desculp\w+|scusa|извини)\b|抱歉|我是说|すみません",),
    "add_also": (r"\b(?:also|as well|too|either|in addition|another thing|plus|auch noch|aussi|tamb[ié]+n|anche|также|тоже)\b|也|另外|も",),
    "option": (r"^\W*(?:option|the (?:first|second|third|last|other)|first|second|both|all|[a-d1-9]\b[.,)]?|variant|neither|none)\b|第[一二三]|番目",),
    "request": (
        rf"^\W*(?:(?:ok|okay|great|nice|cool|now|next|then|and|so|yes|please|thanks|good|perfect|alright|hey|hi)\W+)*(?:can (?:you|we|u)|could (?:you|we)|let'?s|please|i(?:'d| would) like|i (?:want|need)|add|create|write|implement|"
        rf"fix|make|build|update|rename|convert|check|look|run|show|explain|find|try|tell|give|investigate|refactor|review|set up|migrate|replace|move|commit|push|read|summari[sz]e|test|continue|start|use)\b",
        r"^(?:请|帮|写|看|改|修)|(?:してください|お願いします)。?$|^(?:kannst du|bitte|peux-tu|puedes|pode|puoi|можешь|добавь|сделай)\b",
    ),
    "report": (
        r"\b(?:fails?|failing|failed|error|errors|crash\w*|broken|bug|doesn'?t work|not working|works?|worked|red|exception|timeout|500|404|still (?:reads?|get|see|the|fails?|not)|nothing happens|returns|got|getting|says|shows|"
        r"marche|funciona|funziona|работает|падает|fehler|erreur|errore|ошибк\w+)\b|报错|エラー|失败|动かない",
    ),
    "system_must": (
        r"\b(?:it|users?|they|the (?:[\w-]+ ){1,3}|this (?:function|command|page|dialog|form|button|method)|form|page|command|script|button|app|service|bytecode|result|job|file|field|column|list|dialog)\s*(?:should|must|shouldn'?t|has to|needs? to|may|can)\b",
    ),
    "product": (r"\b(?:user|users|customer|customers|button|page|dialog|screen|toggle|form|menu|endpoint|field|column|table|flag|banner|color|colour|px|sidebar|layout|icon|message says|csv|export|import job)\b",),
    "question": (r"\?|？|吗|か。?$",),
    "ends_q": (r"[?？]\W*$|吗\W*$|か。?\W*$",),
    "wh_q": (r"^\W*(?:(?:and|but|so|ok|okay|hmm?|great|cool|question|q)\W+)*(?:what|how|where|which|when|who|is|are|does|do|did|can|could|would|should|was|were|has|have|any)\b",),
    "design": (r"\b(?:approach|won'?t work|alternativ\w+|trade-?offs?|downsides?|option|pros|cons|idea|in theory|what if|what about|how about|wouldn'?t it|would it|what would)\b",),
    "tool_word": (
        r"\b(?:edit|write|read|grep|bash|cat|sed|npm|pnpm|yarn|bun|uv|pip|poetry|pytest|unittest|jest|vitest|ruff|black|flake8|prettier|eslint|git|gh|rebase|amend|squash|force[- ]push|worktree|docker|helm|terraform|kubectl|make|cargo|"
        r"mypy|curl|todo|plan|subagents?|webfetch)\b",
    ),
    "git_word": (r"\b(?:commits?|push(?:e[sd])?|branch(?:es)?|merge|rebase|pr|prs|pull request|co-author\w*|trailer|amend|squash|tag|main|master|stash|diff|messages?)\b|提交|推送|分支|コミット|プッシュ|ブランチ|коммит\w*|пуш\w*",),
    "style_word": (
        r"\b(?:comments?|docstrings?|emojis?|names?|naming|imports?|types?|type hints?|tests?|mocks?|lints?|format\w*|tabs|spaces|quotes|dependenc\w+|deps|summar\w+|bullets?|prose|headings?|dashes|readme|docs?|changelog|prints?|"
        r"logs?|logger|semicolons|exports?|migrations?|generated|lockfile|casts?|any|globals?|singletons?|sleeps?|ternar\w+|classes|helpers?|factory|sql|kommentare?|commentaires?|comentarios?|tests)\b|注释|测试|样式|コメント|テスト|комментари\w*|тест\w*",
    ),
    "to_me": (r"\b(?:me|my|i|myself)\b",),
    "ask_first": (r"\b(?:ask(?: me)?(?: first| before)?|without (?:asking|telling|my|me|permission|approval)|before (?:you|any|changing|committing|pushing|anything)|first|show me|let me (?:see|look)|frag|sans demander|sin preguntar|sem perguntar|спроси|разрешени\w+)\b|同意|先に|许可",),
    "thread_off": (r"\b(?:works?|works fine|love|lovely|perfect|nice|good catch|that's (?:the way|how)|exactly|stick with it|keep (?:it|doing)|more of those|carry on|like (?:this|that)|the way)\b|这样|このまま",),
    "pejor": (r"\b(?:junk|mess|noise|essays?|decoration|playground|giant|huge|whole|entire|everything|everywhere|every tiny|all of|so many|bunch|full of|for three|lines? (?:script|diff)|overcomplicat\w+|unnecessary|needless|obvious|duplicate\w*|twice)\b",),
}


@cache
def patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The cues, compiled at first use."""
    return tuple(
        (name, re.compile("|".join(f"(?:{part})" for part in parts), re.IGNORECASE)) for name, parts in TABLE.items()
    )


def cues(text: str) -> Iterator[str]:
    """The names of the cues that the text shows."""
    for name, pattern in patterns():
        if pattern.search(text):
            yield name
