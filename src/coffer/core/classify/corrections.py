"""Cues of a correction or a lasting wish, by language.

English, German, French, Spanish, Portuguese, Italian, Russian in one alternation; Chinese and Japanese have no
word boundaries and stand last. All are read in lower case.
"""

from __future__ import annotations

_START = (
    r"(?:^|[.!?;:,\n…]|[-–—]\s|\b(?:please|pls|plz|and|but|so|just|also|ok|okay|then|always|yes|no)\b)\s*"
)
_VERB = (
    r"(?:add|use|do|put|write|create|make|touch|change|edit|run|commit|push|delete|remove|open|ask|guess|mock|log"
    r"|merge|rebase|amend|squash|install|import|assume|skip|leave|modify|include|store|keep|call|start|stop|wrap"
    r"|explain|reformat|format|rename|rewrite|overwrite|refactor|bump|mark|mix|print|post|pin|give|tell|say|repeat"
    r"|commit|hardcode|invent|copy|mention|return|throw|catch|swallow|ignore|disable|build|deploy|stash|generate"
    r"|wipe|read|cat|grep|fetch|download|send|show|apologi[sz]e|summari[sz]e|apply|work|answer|reply|reference)"
)

CORRECTIONS: dict[str, tuple[str, ...]] = {
    "dont": (
        (
            rf"{_START}(?:do\s?n[o']?t|don’t|do not|never(?: ever)?|stop|quit|avoid|refrain from"
            rf"|no more|not)\s+(?:\w+ly\s+)?"
            rf"(?:{_VERB}|\w+ing)\b"
        ),
        (
            r"\b(?:bitte\s+)?(?:kein(?:e|en|er)?|nicht|nie|niemals|nie wieder)\b.{0,60}\b\w+en\b"
            r"|\blass das\b|^(?:bitte )?(?:kein|nie)\w*\s+(?!ahnung|problem|sorge|fehler|wunder|grund)"
        ),
        r"\b(?:ne|n['’])\s?\w+.{0,25}\b(?:pas|jamais|plus)\b|\barr[êe]te\b|\bpas de\b|\bjamais\b",
        r"\b(?:no|nunca|jam[áa]s|deja de|ni se te ocurra)\s+\w+(?:es|as|ar|er|ir)\b",
        r"\b(?:n[ãa]o|nunca|para de|jamais)\s+\w+|\b(?:non|mai|smetti di|niente)\s+\w+(?:re|ere|i)\b",
        (
            r"\bне\s+(?:надо|нужно|стоит|\w+(?:й|йте|ь|ьте))\b|\bникогда\b|\bперестань\b|\bхватит\b"
            r"|\bбольше (?:его |её )?не\b"
        ),
        r"不要|别再|禁止|请勿|千万别|不准|别(?!人|的|处)|しないで|やめて|禁止|ないでください|使わないで",
    ),
    "never": (
        (
            r"\b(?:never|not ever|under no circumstances|ever again|\w+ is off limits|banned|forbidden"
            r"|no go|not allowed"
            r"|hands off|tabu|verboten|niemals|nie(?!\s+(?:gesehen|gehört))|jamais|nunca|mai|никогда"
            r"|нельзя|запрещено|interdit|prohibido|proibido)\b"
        ),
        r"\bno\s[\w@.`-]+(?:\s[\w-]+)?\.?\s+(?:ever|please|pls|here)\b|绝对不|永远不要|决不|禁止|絶対",
    ),
    "no_noun": (
        (
            r"(?:^|[.!:;,\n]|\bplease|\bpls|\bbitte)\s*(?:ugh\W+)?no\s+(?!idea|worries|problem|need"
            r"|longer|one\b|error|luck"
            r"|dialog|output|change|prob|matter|clue|further|issue|rush|wait|difference|doubt|i\b|we\b"
            r"|it\b|that|the\b|you"
            r"|not\b|don|response|result|warn|log\b|sign|new\b)[\w@.`/*-]+"
        ),
        (
            r"\b(?:kein(?:e|en)?|sans|pas de|sin|sem|niente|senza|без)\s+"
            r"(?!ahnung|problem|sorge|fehler|wunder|grund|souci|quoi|erreur|duda|проблем)\w+"
        ),
    ),
    "stop": (
        (
            r"\b(?:stop|quit|cut|drop|enough|knock it off|arr[êe]te[sz]?|deja de|para de|smetti|хватит"
            r"|перестань)\b|别再|やめて"
        ),
    ),
    "no_first": (
        (
            r"^\W*(?:no|nope|nah|noo+|nein|non|n[ãa]o|нет|不对|不是|いや|違います)\b(?!\s+(?:idea|worries|problem|need|one"
            r"|error|dialog|prob|luck|clue))"
        ),
    ),
    "instead": (
        (
            r"\b(?:instead|rather than|in place of|over\s+\w+|statt(?:dessen)?|plut[ôo]t|au lieu|en lugar de|en vez de"
            r"|em vez de|ao inv[ée]s|invece|вместо|а не)\b|而不是|改用|代わり"
        ),
    ),
    "not_x": (
        r"\w[\w`)]*,\s*(?:and\s+)?(?:not|never|no)\s+\w|\bnot\s+\w+(?:\s\w+)?,?\s+but\b|\w+ and not \w+",
        r",\s*(?:nicht|pas|no|n[ãa]o|non|не)\s+\w+|不用|ではなく",
    ),
    "use": (
        (
            rf"{_START}(?:use|go with|stick (?:to|with)|switch to|nimm|nutze|verwende|benutze|utilise"
            rf"|usa|utiliza|используй|prefer)\s"
        ),
        r"\bpls\W*$|用(?!户|例)|使って",
    ),
    "we": (
        (
            r"\b(?:we(?:'re| are)? (?:use|do|don'?t|never|always|only|keep|prefer|merge|call|name"
            r"|write|have|run|on|number"
            r"|try|avoid|moved|put|agreed|banned|want|went|settled|stopped|go)|our \w+|in our|bei uns"
            r"|wir (?:nehmen|nutzen"
            r"|haben|benutzen|verwenden|machen|duzen)|on (?:utilise|n'utilise|fait|[ée]crit|est)"
            r"|usamos|nosotros|a gente usa"
            r"|qui usiamo|мы (?:используем|пишем|не)|у нас)\b|我们|うちでは|使っています|統一"
        ),
    ),
    "here": (
        (
            r"\b(?:in|for|on|of) (?:this|the|our) (?:repo(?:sitory)?|project|codebase|code base|team"
            r"|app|engine|lib(?:rary)?"
            r"|monorepo|product|house|package|crate|module)\b|\b(?:around|over|round) here\b|\bin here\b|\bhere\b"
        ),
        (
            r"\bin (?:diesem|dem) (?:projekt|repo)\b|\b(?:dans|sur) ce (?:projet|d[ée]p[ôo]t)\b"
            r"|\ben este (?:proyecto|repo)"
            r"|\bneste projeto\b|\bin questo progetto\b|\bв (?:этом|нашем) проекте\b|项目|仓库|プロジェクト|リポジトリ"
        ),
    ),
    "lasting": (
        (
            r"\b(?:from (?:now|here|this point) on(?:wards?)?|going forward|in (?:the )?future"
            r"|for (?:the )?future|next time"
            r"|every ?time|each time|any ?time|whenever|in general|generally|by default|as a rule"
            r"|everywhere|at all times"
            r"|all (?:the )?(?:my|our|your|future) \w+|in every|for (?:every|any|all|each)|any script"
            r"|for later|anything new"
            r"|ever|across all|nowhere else|wherever|for next|no exceptions|this goes for"
            r"|that goes for|applies to|same for)\b"
        ),
        (
            r"\b(?:ab (?:jetzt|sofort)|k[üu]nftig|in zukunft|immer|jedes mal|[àa] partir de maintenant"
            r"|toujours|[àa] chaque fois"
            r"|d[ée]sormais|a partir de ahora|de ahora en adelante|siempre|cada vez|a partir de agora|sempre|toda vez"
            r"|d'ora in poi|впредь|теперь|всегда|каждый раз)\b"
            r"|以后|今后|每次|总是|所有|統一|今後|これから|毎回|必ず|常に"
        ),
    ),
    "standing": (
        (
            r"\b(?:from (?:now|here|this point) on(?:wards?)?|going forward|in (?:the )?future"
            r"|for the (?:future|next ones)|next time|every ?time|whenever (?:you|i|we)|(?:^|and |but "
            r"|, |: )in general|as a rule|at all times|(?:in )?all (?:of )?(?:my|our) \w+"
            r"|across all|no exceptions|(?:this|that) (?:goes|applies|holds)|wherever (?:we|you"
            r"|possible)|always (?!get|got|was|been|wonder|thought|the same|on\b)|nowhere else"
            r"|anything new|in every|on every|for every|anywhere|please always)\b"
        ),
        (
            r"\b(?:ab (?:jetzt|sofort)|k[üu]nftig|in zukunft|jedes mal|immer(?! noch)"
            r"|[àa] partir de maintenant|[àa] chaque fois|toujours en|d[ée]sormais|a partir de ahora"
            r"|de ahora en adelante|siempre|cada vez|a partir de agora|sempre|toda vez"
            r"|d'ora in poi|впредь|всегда|каждый раз)\b|以后|今后|每次|統一|统一|今後|これから|毎回|必ず|常に"
        ),
    ),
    "always": (
        (
            r"\b(?:always|every|only|must|has to|have to|immer|nur|toujours|siempre|solo|sempre|s[óo]"
            r"|всегда|только)\b|必须|只|必ず"
        ),
    ),
    "prefer": (
        (
            r"\bi(?:'d| would)? (?:\w+ )?(?:prefer|rather|like|love|want|hate|dislike|don'?t (?:like"
            r"|want|need)|need|name|usually"
            r"|normally|always|never|expect|write|use)\b|\bi(?:'m| am) (?:on|a|not a|used)\b|\bmag (?:ich|keine)\b"
        ),
        (
            r"\b(?:je pr[ée]f[èe]re|j'aime|prefiero|me gusta|prefiro|gosto|preferisco|я предпочитаю"
            r"|мне нравится)\b|我喜欢|好き"
        ),
    ),
    "note": (
        (
            r"\b(?:fyi|fwiw|btw|by the way|heads up|keep in mind|bear in mind|remember|note|notes"
            r"|convention|conventions|rule"
            r"|rules|one thing|just so you know|for reference|small thing|policy|style|guideline"
            r"|guidelines|company|claude\.md"
            r"|agents\.md|memori[sz]e|context about me|working with me|before (?:we|you) (?:start|begin)|as usual)\b"
        ),
        (
            r"\b(?:grunds[äa]tzlich|[üu]brigens|merk dir|note bien|retiens|recuerda|ten en cuenta"
            r"|lembre|ricorda|запомни)\b"
            r"|顺便|记住|注意|なお|ちなみに|覚えて"
        ),
    ),
    "approve": (
        (
            r"^\W*(?:yes|yep|yeah|yup|ok|okay|sure|lgtm|great|perfect|nice|good|cool|awesome"
            r"|love(?:ly)?|sweet|thanks|thank you"
            r"|ty|fine|sounds good|looks? (?:good|right)|exactly|go ahead|ja|super|gut|oui|merci|s[íi]"
            r"|gracias|listo|sim|obrigad"
            r"|show|bene|grazie|да|спасибо|отлично|хорошо)\b|^(?:好|可以|行|はい|ありがとう|いい)"
        ),
    ),
    "why_you": (
        (
            r"\b(?:why|what made|how come|what for|what happened)\b.{0,40}\b(?:you|did|are we|do we|is"
            r"|was|did we)\b|\bwhy (?:the|a|all|this|so)\b"
        ),
        r"\b(?:warum|wieso|weshalb|pourquoi|por qu[ée]|perch[ée]|зачем|почему)\b|为什么|干嘛|なぜ|どうして",
    ),
    "why_did": (
        (
            r"\bwhy(?:'d| did| are| do| have| would| were| must| is there| are there|'s)\s+(?:you"
            r"|there|my|it all|we (?:still|again))\b"
        ),
        (
            r"\bwarum (?:hast|legst|machst|sind) |\bpourquoi (?:as-tu|tu|tous|avoir)"
            r"|\bpor qu[ée] (?:has|voc[êe])|\bperch[ée] hai|\bзачем ты"
            r"|为什么要|变更|なぜ.*まで|なぜ.*変え|なぜ.*しました"
        ),
    ),
    "who_asked": (
        (
            r"\b(?:who (?:asked|told|said)|did i (?:ask|tell|say)|(?:nobody|i never|i didn'?t"
            r"|no one) (?:asked|ask|want|wanted|told|said)"
            r"|i (?:only |just )?(?:asked|said|told (?:you|u)|wanted)|as i said|like i said|i keep"
            r"|i've (?:said|told|asked|answered)"
            r"|not what i|i wasn'?t asking|without (?:asking|telling|being)|on your own|unasked|not asked)\b"
        ),
        (
            r"\b(?:hab(?:e)? ich|ich (?:hatte|wollte)|je t'avais|je n'ai pas demand|qui t'a"
            r"|qui[ée]n te|no te ped|te ped[íi]|n[ãa]o pedi"
            r"|eu pedi|non ho chiesto|просил|я же|кто тебя)\b|谁让你|我只|让你|我说|と言い|頼んで"
        ),
    ),
    "again": (
        (
            r"\b(?:again|still|already|once more|second time|third time|times|how many times|another"
            r"|keep(?:s)? \w+ing|yet again|repeat"
            r"|schon wieder|immer noch|encore|otra vez|de nuevo|de novo|ancora|опять|снова|уже)\b"
            r"|又|再次|还在|また|まだ"
        ),
    ),
    "undo": (
        (
            r"(?:^|[.!,:;\n]|\b(?:please|pls|can you|could you|and|just|ok|so|oh no|them"
            r"|then)\b)\s*(?:undo|revert|restore|roll ?back|take\b.{0,30}\b(?:out|back|off)"
            r"|put\b.{0,40}\bback|"
            r"bring\b.{0,30}\bback|back to (?:how|what|the (?:old|way|previous|original)|before|\d)"
            r"|delete|remove|drop|rip|downgrade|abort|cancel|get rid|turn .{2,20} (?:on|off) again"
            r"|enable it again|git (?:checkout|reset|restore|revert))\b"
        ),
        (
            r"\b(?:r[üu]ckg[äa]ngig|auf den alten stand|zur[üu]ck(?:setzen|nehmen)?|wieder weg|remets"
            r"|annule|enl[èe]ve|supprime|deshaz|devu[ée]lve"
            r"|revierte|quita|desfaz|desfa[çc]a|remov[ea]|annulla|rimetti|togli|ripristina|верни|убери"
            r"|откати|отмени)\w*\b|恢复|撤销|还原|删掉|改回|元に戻|取り消|消して"
        ),
    ),
    "restored": (r"\b(?:undo|revert|restore|back|again|reset|rollback|zur[üu]ck|wieder)\b|恢复|改回|元に戻",),
    "annoyed": (
        (
            r"\b(?:seriously|really|come on|ugh+|wtf|oh no|oh great|noo+|lol|dude|man|omg|sigh"
            r"|excuse me|you what|srsly|hello|ffs|jeez|geez|come on|hmm?"
            r"|s[ée]rio|en serio|ernsthaft|im ernst|davvero|серьёзно|серьезно)\b|\?\?+|!!+|[?!]{2,}|…|\.\.\."
        ),
    ),
    "you_did": (
        (
            r"\byou(?:'ve| have)?\s+(?:just |also |even |again |already |only |still "
            r"|always )?(?:changed?|added?|deleted?|removed?|committed|pushed|bumped|said|put|wrote"
            r"|made|used?|did(?:n'?t)?"
            r"|forgot|missed|ignored|skipped|broke|reverted|renamed|moved|touched|ran|left|squashed"
            r"|posted|commented|kept|keep|don'?t|could have|were|should|shouldn'?t|told|uploaded"
            r"|create|created)\b"
        ),
        (
            r"\bdu hast\b|\btu as\b|\bhas (?:cambiado|borrado)\b|\bvoc[êe] (?:mudou|apagou)\b"
            r"|\bhai (?:cambiato|tolto)\b|\bты (?:опять|снова|\w+л)\b|你怎么|你又|你为什么"
        ),
    ),
    "were_you": (r"\b(?:you|your)\b|\b(?:du|dir|dich|dein\w*|tu|toi|t[úu]|voc[êe]|ты|тебя)\b|你|あなた",),
    "should_q": (
        (
            r"\b(?:should(?:n'?t|nt)?|would(?:n'?t)?|could(?:n'?t)?|isn'?t|aren'?t|doesn'?t|don'?t"
            r"|didn'?t|haven'?t|wasn'?t|weren'?t)\s+(?:it|this|that|we|you|there|they|be"
            r"|the)\b[^.!\n]*\?"
        ),
    ),
    "neg_q": (
        (
            r"\b(?:n't|not|no|never|without|lost|missing|gone|forgot\w*)\b[^.!\n]{0,60}\?|\b(?:nicht"
            r"|kein\w*|pas|не)\b[^.!\n]{0,60}\?"
        ),
    ),
    "can_not": (
        (
            r"\b(?:can|could|should|may|do)\s+(?:we|you|i)\s+(?:\w+\s+)?(?:not|stop|avoid)\b"
            r"|\bcan'?t (?:we|you) (?:just )?\w+|\blet'?s not\b|\bno longer\b|\bbetter not\b"
            r"|\bdo (?:we|they) (?:really |even )?(?:need|have to|add)\b"
        ),
    ),
    "lost": (r"\b(?:lost|gone|missing|no longer there|dropped|broken|broke|went missing|disappeared)\b",),
    "thought": (
        (
            r"\b(?:i thought|i'?m pretty sure|pretty sure|i(?:'d| would) have (?:expected|thought)"
            r"|didn'?t we|we (?:had|agreed|said|already|settled)|there(?:'s| is| was)? (?:already"
            r"|a \w+ for)|already (?:have|had|exists?|does|do))\b"
        ),
    ),
    "wherever": (
        (
            r"\b(?:wherever|everywhere|whenever|in the future|future|again|at all|any more|anymore"
            r"|ever|always|never|only|by default|in general)\b"
        ),
    ),
    "learn": (
        (
            r"\b(?:so (?:that )?you (?:remember|know)|remember (?:this|that)|write (?:this|that"
            r"|it) down|memori[sz]e|never (?:happens|repeats)|(?:claude|agents|contributing"
            r"|instructions|guidelines?|rules?)(?:\.md)?\b.{0,60}\b(?:add|update|so|that|future|always"
            r"|never|note)|(?:add|put|note|update|mention)\b.{0,40}\b(?:claude|agents|guidelines?"
            r"|rules)(?:\.md)?)\b"
        ),
    ),
    "observed_q": (
        (
            r"^\W*(?:(?:ok|hmm?|wait|um|so|and|but|hey|oh|ehm?)\W+)?(?:there(?:'s| is| are)|these|this"
            r"|that|those|it|we|you|i|my|the|a|an|another)\b[^.!\n?]{2,90}\?\s*$"
        ),
    ),
    "should": (
        (
            r"\b(?:should|shouldn'?t|must(?:n'?t)?|need(?:s)? to|ought|supposed|belong(?:s)?|has to"
            r"|have to|live(?:s)?|go(?:es)? (?:in|to|into|through|under|next)|doit|debe|deve|должн\w+"
            r"|soll(?:en|te)?|m[üu]ss\w*)\b|应该|べき"
        ),
    ),
    "better": (
        (
            r"\b(?:better|i(?:'d| would) (?:rather|say|have expected)|maybe|perhaps|i think|i believe"
            r"|i doubt|i'?m not sure|not sure|useful|useless|doesn'?t feel right"
            r"|overkill|too (?:much|many|long)|worried|"
            r"wondering|i wonder|hm+|given|lieber|besser|plut[ôo]t|mejor|melhor|meglio|лучше)\b|最好|方がいい"
        ),
    ),
    "wrong": (
        (
            r"\b(?:wrong|incorrect|not (?:correct|right|true|ok|okay|fine|acceptable|how)|unreadable"
            r"|useless|noise|cheating|bad|broke[n]?|ruins?|kills?|defeats|hits|falsch|faux|mal|errado"
            r"|sbagliato|неправильно)\b|不对|错|違"
        ),
    ),
    "reason": (
        (
            r"\b(?:because|since|so that|otherwise|that'?s why|which is why|that'?s what|as (?:that|it"
            r"|they|we)|for a reason|on purpose|weil|sonst|car|sinon|porque|pois|perch[ée]|потому"
            r"|иначе|or (?:else|\w+ (?:breaks|stops)))\b|因为|否则|ので|から"
        ),
    ),
}
