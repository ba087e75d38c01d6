"""Settings files as people and programs leave them (cases, group H), and where our stub lies."""

from __future__ import annotations

import json
from typing import Any

HOOK = "/home/dev/.coffer/bin/coffer-hook"
ODD_HOOK = '/home/With Space/it\'s "home"/.coffer/bin/coffer-hook'

FOREIGN: dict[str, list[Any]] = {
    "SessionStart": [{"matcher": "startup", "hooks": [{"type": "command", "command": "echo 'theirs"}]}],
    "PostToolUse": [
        {
            "matcher": "Edit|Write",
            "hooks": [{"type": "command", "command": "prettier --write", "timeout": 10}],
        }
    ],
    "Stop": [{"hooks": [{"type": "command", "command": 'say "done'}, {"type": "prompt", "prompt": "ok?"}]}],
}

SOUND: dict[str, str] = {
    "nothing but braces": "{}",
    "braces and newline": "{}\n",
    "braces with a blank": "{ }",
    "braces on lines": "{\n}\n",
    "braces, CRLF": "{\r\n}\r\n",
    "empty": "",
    "blank": "  \n\n",
    "a newline": "\n",
    "hooks empty": '{"hooks": {}}',
    "hooks empty on lines": '{\n  "hooks": {\n  }\n}\n',
    "hooks with a blank": '{\n  "hooks": { },\n  "description": "opus"\n}\n',
    "events empty": '{\n  "hooks": {\n    "SessionStart": [],\n    "Stop": [ ]\n  }\n}\n',
    "events empty on lines": '{\n  "hooks": {\n    "SessionStart": [\n    ],\n    "Stop": [\n\n    ]\n  }\n}\n',
    "one event empty inline": '{"hooks": {"SessionEnd": [], "Notification": []}}',
    "foreign": json.dumps({"hooks": FOREIGN}, indent=2) + "\n",
    "foreign, no newline at the end": json.dumps({"hooks": FOREIGN}, indent=2),
    "foreign, tabs": json.dumps({"hooks": FOREIGN}, indent="\t") + "\n",
    "foreign, four blanks": json.dumps({"hooks": FOREIGN}, indent=4) + "\n",
    "foreign, CRLF": json.dumps({"hooks": FOREIGN}, indent=2).replace("\n", "\r\n") + "\r\n",
    "foreign, minified": json.dumps({"hooks": FOREIGN}, separators=(",", ":")),
    "foreign, one line": json.dumps({"hooks": FOREIGN}),
    "foreign, odd blanks": '{ "hooks" :{"Stop":[ {"hooks" : [ {"type":"command","command":"x"} ] } ]\n} }',
    "foreign, bracket on the line": '{\n  "hooks": {"Stop": [{\n    "hooks": []\n  }, {"hooks": []}]\n  }\n}\n',
    "foreign, comma first": '{ "hooks": {\n    "Stop": []\n  , "PreCompact": []\n  }\n}\n',
    "foreign, mixed ends": '{\r\n  "hooks": {\n    "Stop": []\r\n  }\n}\r\n',
    "foreign, many newlines": '\n\n{\n\n  "hooks":\n\n  {\n\n  "Stop"\n:\n[\n]\n}\n\n}\n\n\n',
    "escapes": '{"hooks": {"Stop": [{"hooks": [{"type":"command","command":"\\u0065cho \\"\\u00e9\\ud83d\\ude00"}]}]}}',
    "named alike": (
        '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/x/coffer-hook-old go"},'
        ' {"type": "command", "command": "echo /x/coffer-hook"},'
        ' {"type": "command", "command": "\'/x/coffer-hook claude Stop"}]}]}}\n'
    ),
    "group without hooks": '{"hooks": {"SessionStart": [{}, {"matcher": "x"}]}}\n',
    "unknown event": '{"hooks": {"Tomorrow": [{"hooks": [{"type": "command", "command": "x"}]}]}}\n',
}
"""Files that both agents take; nothing of ours is in them."""

CLAUDE_ONLY: dict[str, str] = {
    "byte order mark": '\ufeff{\n  "model": "opus"\n}\n',
    "byte order mark only": "\ufeff",
    "other settings": (
        '{\n  "model": "opus",\n  "env": {"A": "1", "B": "\\/"},\n  "permissions": {"allow": ["Bash"]}\n}\n'
    ),
    "other settings, tabs": '{\n\t"model":"opus",\n\t"x": [1, 2.50, 1e3, -0]\n}\n',
    "hooks first": '{\n  "hooks": {\n    "Stop": []\n  },\n  "model": "opus"\n}\n',
    "half a pair": '{"note": "\\ud83c", "hooks": {}}\n',
    "raw unicode": '{"note": "ünï\u2028\u00a0日本", "theme": "dark"}\n',
    "huge": json.dumps({"permissions": {"allow": [f"Bash(tool{n}:*)" for n in range(20_000)]}}, indent=2),
    "long numbers": '{"x": ' + "9" * 5000 + "}\n",
}

BROKEN: dict[str, tuple[str, int, str]] = {
    "line comment": ('{\n  // mine\n  "hooks": {}\n}\n', 2, "comment"),
    "block comment": ('/* mine */\n{"hooks": {}}\n', 1, "comment"),
    "comment behind": ('{"hooks": {}}\n// mine\n', 2, "comment"),
    "trailing comma": ('{\n  "hooks": {},\n}\n', 3, "comma before }"),
    "trailing comma in a list": ('{"hooks": {"Stop": [1,]}}', 1, "comma before ]"),
    "cut off": ('{\n  "hooks": {', 2, "too early"),
    "more behind": ("{}{}", 1, "more after"),
    "single quotes": ("{'hooks': {}}", 1, "key in quotes"),
    "no quotes": ("{hooks: {}}", 1, "key in quotes"),
    "NaN": ('{"hooks": NaN}', 1, "no JSON"),
    "a list": ("[]\n", 1, "not an object"),
    "a text": ('"hooks"', 1, "not an object"),
    "null": ("null", 1, "not an object"),
    "hooks null": ('{"hooks": null}', 1, "not an object"),
    "hooks a list": ('{\n"hooks": []}', 2, "not an object"),
    "event an object": ('{"hooks": {"Stop": {"hooks": []}}}', 1, "not a list"),
    "event null": ('{"hooks": {"Stop": null}}', 1, "not a list"),
    "group a text": ('{"hooks": {"Stop": ["coffer-hook"]}}', 1, "not an object"),
    "group's hooks an object": ('{"hooks": {"Stop": [{"hooks": {}}]}}', 1, "not a list"),
    "entry a text": ('{"hooks": {"Stop": [{"hooks": ["coffer-hook"]}]}}', 1, "not an object"),
    "hooks twice": ('{"hooks": {},\n"hooks": {}}', 2, "twice"),
    "an event twice": ('{"hooks": {"Stop": [],\n"\\u0053top": []}}', 2, "twice"),
    "a line in a text": ('{"hooks": {}, "x": "a\nb"}', 1, "quotes"),
    "a raw tab in a text": ('{"x": "a\tb"}', 1, "quotes"),
    "wrong escape": ('{"x": "\\x"}', 1, "quotes"),
    "deep": ('{"x": ' + "[" * 500 + "]" * 500 + "}", 1, "nested"),
}
"""Text, line and a word of the reason: left alone, and said."""
