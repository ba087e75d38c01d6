"""Weights of the classifier, written by tools/train/train_classifier.py: do not edit.

Learned from:
- turns_extra.jsonl (669 turns), sha256 501f03042d7f0c0ab1f14ade0e38125a
- dev.jsonl (400 turns), sha256 40f89ec0613b5e85036016c64d706af6
"""

CLASSES = (
    "EXPLICIT_CORRECTION",
    "IMPLICIT_CORRECTION",
    "PREFERENCE",
    "ONE_OFF",
    "CLARIFICATION",
    "NONE",
)
SCALE = 50
TABLE = """
b:answered 11 20 15 -14 4 -36|b:asked -25 -35 0 -3 75 -12|b:did 1 11 -14 -11 -4 17|b:done -20 -8 -3 9 -26 49
b:extra -2 33 -9 18 -36 -4|b:git 17 27 -11 -11 -10 -12|b:installed 22 28 -7 -8 -23 -13|b:plan 2 -8 0 3 -17 21
b:ran 26 32 -13 -12 -32 -2|b:removed -17 23 -9 -2 43 -38|b:start -30 -13 30 -2 -16 32|b:wrote 32 32 -14 -11 -20 -18
bias -5 3 -9 -9 5 15|c:add_also -27 -40 -5 -7 40 39|c:again -12 6 0 -7 -11 24|c:always 7 -2 7 -5 -1 -6
c:annoyed 3 34 -10 -11 -10 -6|c:approve -14 -14 11 -8 -25 50|c:ask_first 30 -16 3 2 4 -22|c:better 7 21 -6 -9 -8 -5
c:can_not -9 14 -4 8 -14 5|c:design -28 -30 -11 -4 10 63|c:dont 39 -11 -6 -5 -12 -5|c:ends_q -8 10 -5 -5 -8 17
c:git_word 5 -1 5 -3 -16 9|c:here 13 -22 55 3 -26 -23|c:instead 7 -18 10 -9 26 -17|c:lasting 0 -9 28 -5 -8 -6
c:learn -2 -5 19 -4 -13 5|c:leave 40 -2 -4 9 -9 -34|c:lost -7 -8 -2 -8 -1 26|c:make_sure -8 -6 3 -3 -14 28
c:meant -16 -16 -14 -16 82 -21|c:neg_q -7 4 -4 -3 6 5|c:never 26 -15 3 -6 -9 1|c:no_first 12 -16 -9 4 20 -11
c:no_noun 40 -24 3 -5 26 -39|c:not_x 11 -17 4 -3 16 -11|c:note -11 -29 69 -5 -15 -9|c:observed_q -6 0 -3 -3 -6 17
c:one_off -17 -17 -9 75 -5 -27|c:option -30 5 1 -16 80 -39|c:pejor 5 27 -2 -9 -10 -11|c:prefer -4 -1 16 -5 -15 9
c:product 7 -13 -8 -6 13 7|c:question -10 20 -8 -6 -9 12|c:reason 0 -5 2 1 6 -4|c:report -10 -4 3 -8 -12 32
c:request 2 -23 -9 -6 -6 42|c:restored -23 31 -7 -2 -11 13|c:scope_lim -1 0 -1 10 3 -11|c:should 13 -20 -16 -14 37 0
c:should_q -2 14 -4 -3 -9 5|c:standing 11 -8 21 -6 -10 -7|c:stop 48 -58 -19 -9 36 3|c:style_word 7 7 5 -7 -9 -2
c:system_must -29 -13 -10 -3 31 24|c:thought -21 42 -13 -6 10 -13|c:thread_off 10 -3 19 14 -29 -11
c:to_me -4 8 5 -2 -19 13|c:tool_word 18 -4 -6 -7 4 -6|c:undo -4 53 -11 -8 -11 -19|c:use 18 -11 1 3 2 -14
c:we 17 -10 20 -6 -12 -10|c:were_you 9 19 7 -12 -20 -4|c:wh_q -17 -3 -5 -2 -1 29|c:wherever 1 3 0 -5 1 0
c:who_asked -15 88 -12 -9 9 -61|c:why_did -8 33 -3 -1 -2 -19|c:why_you -8 0 -3 -4 -5 21|c:wrong 21 -36 -11 8 4 14
c:you_did 22 23 -1 -16 -8 -19|m:again -3 13 -7 -1 3 -5|m:any 16 0 2 -4 -6 -9|m:can_not 16 17 -4 19 -15 -32
m:dont 14 -13 8 -3 2 -8|m:instead 1 -6 -9 -5 0 19|m:lost -18 40 -8 1 -5 -9|m:neg_q -8 20 -3 -3 0 -7
m:never 0 2 8 -2 0 -8|m:no_noun 31 -12 26 -8 -20 -17|m:not_x 8 -6 8 -6 5 -10|m:note -7 -1 42 -3 -4 -27
m:observed_q -7 20 -1 -3 0 -9|m:prefer 34 -22 8 0 -3 -17|m:pure 18 1 1 -3 -5 -13|m:should_q 17 3 -4 -1 -2 -13
m:standing 11 -7 6 -3 -4 -4|m:thought -13 -12 -10 -4 30 10|m:undo 11 -26 -13 -3 -4 36|m:who_asked -2 18 3 -11 16 -24
m:why_you -14 10 10 -3 -1 -2|m:wrong 28 -22 -8 -1 8 -5|overlap 4 7 -1 -1 1 -10|p:again+better 29 -58 -3 -15 12 35
p:again+git_word -8 -19 1 0 0 26|p:again+neg_q 0 22 0 0 -1 -20|p:again+one_off -6 7 -14 -1 -5 18
p:again+product 4 43 -1 -7 -1 -38|p:again+question -12 17 6 0 -2 -10|p:again+report -2 -24 5 -2 -9 32
p:again+request -2 -31 -4 -2 -2 42|p:again+scope_lim -21 -22 38 23 -1 -18|p:again+style_word 13 -4 -3 3 -10 1
p:again+thought -13 49 -13 2 4 -29|p:again+tool_word -10 45 -10 -2 19 -41|p:again+undo -11 48 3 2 3 -46
p:again+wherever -16 18 -6 2 0 2|p:again+wrong -16 -24 0 -1 20 21|p:again+you_did -22 39 -1 3 3 -22
p:approve+git_word -18 -17 38 -4 -16 16|p:approve+lost 24 -3 -10 -2 23 -32|p:approve+one_off -14 11 21 26 -11 -32
p:approve+question -3 -8 -10 -1 -1 24|p:approve+reason -2 -3 -13 21 -4 1|p:approve+report 15 -21 -11 -1 -1 19
p:approve+request 11 7 -3 -6 -17 8|p:approve+scope_lim 18 23 -7 -5 -18 -12|p:approve+style_word -16 31 23 -16 -7 -14
p:approve+tool_word -10 -12 31 -8 -3 2|p:approve+undo 42 -19 -11 3 3 -18|p:approve+wherever -4 -7 20 8 2 -19
p:better+ends_q -6 -17 -3 -1 -3 30|p:better+product 30 -32 -6 -3 17 -6|p:better+question -6 -17 -3 -1 -3 30
p:better+reason 34 -23 -11 -3 8 -5|p:better+report 24 -31 -12 -2 -9 29|p:better+scope_lim -16 9 -12 -3 25 -3
p:better+style_word 12 4 5 -3 -19 0|p:better+wrong 1 -22 -3 2 28 -6|p:can_not+better 32 11 -2 0 -6 -35
p:can_not+git_word -19 41 0 24 -9 -36|p:can_not+request -40 47 -3 16 -14 -6|p:dont+again 12 1 -16 1 13 -10
p:dont+approve 8 -28 27 -2 22 -27|p:dont+ends_q 29 -7 -10 1 3 -16|p:dont+git_word 23 -16 17 5 -13 -16
p:dont+lasting -13 -2 3 -1 -1 14|p:dont+lost 26 -1 -7 1 1 -20|p:dont+no_first 46 -9 -2 4 -15 -25
p:dont+not_x 12 -3 -1 -4 10 -14|p:dont+one_off -22 0 -14 55 -11 -8|p:dont+product -17 -13 42 -5 35 -43
p:dont+question 11 -17 -8 -1 -4 18|p:dont+report -18 -13 -18 6 10 33|p:dont+request 9 -13 -5 -3 -3 15
p:dont+scope_lim 23 -20 6 9 -4 -14|p:dont+standing 17 -4 -15 -1 -6 8|p:dont+style_word 10 -13 7 -6 10 -8
p:dont+tool_word 2 -8 -5 -1 4 8|p:dont+undo 22 -19 0 1 13 -18|p:dont+use 10 -5 -13 -1 22 -13
p:dont+we 6 -1 12 -1 -1 -16|p:dont+wherever -6 -10 -15 -3 30 4|p:dont+wrong 22 0 0 0 -1 -21
p:dont+you_did 20 -12 -6 1 -1 -1|p:ends_q+git_word -5 24 -3 -2 -1 -14|p:ends_q+style_word -7 19 -5 -2 -3 0
p:ends_q+tool_word -7 40 3 0 -11 -24|p:git_word+style_word -14 -20 23 -9 -9 29|p:instead+approve -19 0 30 -7 0 -5
p:instead+ends_q -9 9 0 0 34 -34|p:instead+lasting 16 -1 11 -6 -2 -18|p:instead+question -9 9 0 0 34 -34
p:instead+report -8 -7 -9 1 -9 32|p:instead+request 10 -1 -15 -3 -4 12|p:instead+style_word -8 -4 -6 -4 -19 41
p:instead+tool_word 12 -3 0 -5 14 -17|p:instead+use 41 -2 -1 -1 -26 -11|p:instead+we -19 -11 40 -5 -23 18
p:instead+wherever 51 -9 -10 0 -24 -8|p:lasting+again -14 8 -30 15 -7 28|p:lasting+approve -1 -1 34 -6 -4 -22
p:lasting+better -19 0 26 0 -5 -2|p:lasting+one_off -18 -2 25 1 0 -5|p:lasting+prefer 12 1 11 -2 -1 -21
p:lasting+product 34 -1 -2 0 -13 -17|p:lasting+question -9 -32 -21 2 -11 71|p:lasting+reason 10 -3 9 -2 -13 -1
p:lasting+report -11 -10 21 0 -1 0|p:lasting+request -22 1 34 0 -1 -13|p:lasting+scope_lim 6 -22 21 1 -8 3
p:lasting+standing 25 1 10 -6 -6 -24|p:lasting+style_word 14 -11 4 4 -5 -6|p:lasting+tool_word 28 -5 -12 -6 -6 1
p:lasting+wherever 5 -18 21 -7 -4 3|p:learn+request -3 -3 -17 -1 -6 31|p:learn+style_word -1 -2 -17 0 -2 22
p:lost+report 7 19 5 1 -5 -26|p:lost+scope_lim -4 25 -10 -3 42 -50|p:lost+style_word -18 40 -8 1 -5 -9
p:lost+wrong 20 -1 -1 5 -2 -22|p:neg_q+can_not 0 25 0 -1 -2 -22|p:neg_q+ends_q -2 14 -2 -3 -2 -6
p:neg_q+observed_q 0 34 0 -5 0 -28|p:neg_q+one_off 0 26 0 -8 1 -19|p:neg_q+product -4 -22 0 0 -1 27
p:neg_q+question -7 4 -4 -3 6 5|p:neg_q+report 0 -37 0 0 0 37|p:neg_q+scope_lim -9 -19 -4 0 -4 36
p:neg_q+style_word -5 38 -1 -4 2 -30|p:neg_q+wherever -9 -28 1 2 -3 37|p:no_first+again 8 -17 -3 0 -10 22
p:no_first+one_off -18 -2 -2 41 -17 -2|p:no_first+report 4 -17 -4 -4 15 6|p:no_first+scope_lim 17 -10 -5 -14 -13 25
p:no_first+style_word 30 -7 -11 -6 2 -8|p:no_first+tool_word 30 -8 -5 -3 -1 -12
p:no_first+wherever 20 -14 -7 -14 -11 26|p:not_x+approve -44 -2 31 14 0 1|p:not_x+git_word 30 -1 -17 -4 13 -21
p:not_x+lasting -19 1 38 -7 -6 -7|p:not_x+neg_q -8 -27 -7 1 -2 41|p:not_x+one_off -9 0 9 25 -11 -14
p:not_x+prefer -19 -1 17 -2 -12 17|p:not_x+product 8 -6 15 -11 15 -20|p:not_x+question -8 -26 4 1 -6 35
p:not_x+report 26 -6 -17 1 -13 9|p:not_x+request 14 2 -13 12 1 -16|p:not_x+scope_lim -9 -14 -1 8 13 3
p:not_x+standing 37 -1 -19 1 -10 -8|p:not_x+style_word -3 -2 21 -8 9 -18|p:not_x+undo 14 -29 3 4 13 -5
p:not_x+use 34 3 -10 9 -23 -13|p:not_x+we 44 -3 -15 1 -16 -12|p:not_x+wherever -28 -6 15 -4 17 6
p:not_x+why_you -5 -29 7 0 -3 31|p:not_x+wrong -33 2 1 -5 42 -6|p:observed_q+better -2 -37 -1 0 -1 40
p:observed_q+ends_q -6 0 -3 -3 -6 17|p:observed_q+one_off 0 26 0 -8 1 -19|p:observed_q+product 0 29 0 0 -7 -23
p:observed_q+question -6 0 -3 -3 -6 17|p:observed_q+scope_lim -1 38 -1 0 -1 -35
p:observed_q+style_word -3 -13 0 -4 0 20|p:one_off+ends_q -1 14 -5 20 0 -30|p:one_off+git_word -16 -13 -6 56 -7 -13
p:one_off+product -7 15 -3 19 -20 -4|p:one_off+question -1 14 -5 20 0 -30|p:one_off+report -5 -11 15 14 -5 -8
p:one_off+request -9 -13 -9 34 10 -14|p:one_off+scope_lim -21 -11 -9 81 -20 -20
p:one_off+style_word -17 4 12 26 -21 -4|p:one_off+tool_word -16 -3 37 23 -15 -27|p:prefer+approve 22 -4 -15 -5 -7 9
p:prefer+better 14 20 7 -7 3 -37|p:prefer+git_word 19 -12 14 -4 -1 -15|p:prefer+one_off -14 -1 3 23 -7 -5
p:prefer+product 32 51 -35 -9 -17 -23|p:prefer+reason -10 -12 15 0 26 -18|p:prefer+report -25 -7 36 1 0 -6
p:prefer+scope_lim 3 -8 5 5 5 -10|p:prefer+style_word 37 -23 1 5 -2 -18|p:prefer+tool_word -29 1 38 -6 0 -4
p:prefer+wherever -6 -21 0 -2 -1 29|p:prefer+why_you -17 -13 29 0 1 0|p:product+ends_q -5 -10 -4 0 -12 32
p:product+git_word 12 -27 -3 -1 -12 31|p:product+question -8 9 -6 -2 -13 21
p:product+style_word 42 -20 15 -27 -20 10|p:product+tool_word -7 9 34 -9 -8 -19|p:question+ends_q -8 10 -5 -5 -8 17
p:question+style_word -3 15 -7 -3 -4 1|p:question+tool_word -15 33 -1 0 -10 -6|p:reason+ends_q -3 2 -9 0 -4 15
p:reason+git_word -4 -12 -16 -3 -1 37|p:reason+one_off -3 -2 -4 38 -13 -15|p:reason+product 21 0 -24 0 -28 32
p:reason+question -5 -1 -8 0 -10 25|p:reason+report -26 9 32 -5 4 -14|p:reason+scope_lim -25 -9 4 -8 31 7
p:reason+style_word -2 20 -22 -1 -4 8|p:reason+tool_word 25 -11 -15 -1 -10 11|p:report+ends_q -1 32 3 -2 -2 -30
p:report+git_word 18 -7 -7 -2 -14 12|p:report+product -7 -3 -12 0 -15 37|p:report+question -4 23 -10 -4 12 -17
p:report+style_word -23 -2 -2 1 -1 26|p:report+tool_word -19 9 10 6 9 -15|p:request+ends_q -2 -12 0 0 -6 19
p:request+git_word 1 -4 2 12 -13 3|p:request+product -9 -2 -12 -7 13 16|p:request+question -2 3 -12 -2 -5 18
p:request+report -4 42 -24 19 -10 -22|p:request+style_word 4 -27 5 -6 21 3|p:request+tool_word -26 -7 -11 3 30 11
p:scope_lim+ends_q -7 1 13 -4 -5 3|p:scope_lim+git_word -16 -13 19 2 -13 22|p:scope_lim+product -27 -9 31 1 35 -32
p:scope_lim+question -10 0 9 -5 -9 15|p:scope_lim+report 13 -13 -8 1 -6 13|p:scope_lim+request 8 14 2 -5 1 -20
p:scope_lim+style_word -4 -5 4 1 5 -1|p:scope_lim+tool_word 12 -2 6 -3 -13 -1|p:should_q+ends_q -9 0 -4 -3 -10 26
p:should_q+observed_q -3 -37 0 0 0 39|p:should_q+product -4 -22 0 0 -1 27|p:should_q+question -2 14 -4 -3 -9 5
p:should_q+request 24 32 -2 1 0 -54|p:should_q+style_word 22 -3 -4 -1 -1 -12|p:should_q+thought 0 34 0 0 0 -33
p:should_q+wherever 0 -35 -1 0 -1 39|p:standing+again 14 26 -21 0 2 -21|p:standing+approve -5 -4 52 -3 -2 -38
p:standing+better -27 -1 24 -1 0 4|p:standing+ends_q -9 -32 -7 -1 -1 48|p:standing+git_word 12 -6 -1 -4 -2 2
p:standing+one_off -14 2 35 -16 2 -9|p:standing+prefer 14 0 3 1 2 -19|p:standing+product 17 0 -19 -2 -13 17
p:standing+question -9 -30 -6 -1 -1 47|p:standing+reason -1 0 7 -2 -17 12|p:standing+report 16 -9 19 -3 -7 -17
p:standing+scope_lim 24 -15 -8 -8 -15 22|p:standing+style_word 11 -7 6 0 -2 -7|p:standing+tool_word -5 -5 5 -4 -5 14
p:standing+undo 39 -16 -12 2 3 -16|p:standing+wherever 12 -15 10 -7 -16 15|p:thought+better -6 74 0 1 -13 -57
p:thought+ends_q -3 28 -1 0 -7 -17|p:thought+git_word -3 -21 -5 0 -2 31|p:thought+question -5 8 -5 -1 -13 17
p:thought+style_word -12 -20 -11 -4 35 12|p:tool_word+git_word 17 -18 -8 4 -10 15
p:tool_word+style_word 13 -12 7 1 -11 2|p:undo+git_word 18 -43 -12 -3 -5 44|p:undo+product -33 -26 -6 -2 33 34
p:undo+question -6 8 -3 15 -3 -11|p:undo+request -31 55 -7 -4 24 -38|p:undo+scope_lim 32 20 -7 -12 -32 0
p:undo+style_word 5 -29 -15 -1 -6 46|p:undo+tool_word 7 14 -7 -3 6 -18|p:undo+wherever 9 25 -4 0 1 -31
p:use+lasting -41 1 48 0 1 -9|p:use+one_off -7 -2 -3 52 -14 -26|p:use+prefer -20 -2 13 -1 -1 10
p:use+report 13 -1 8 -3 3 -19|p:use+request 12 -15 2 19 -35 17|p:use+scope_lim 19 -6 -13 6 9 -14
p:use+standing -21 0 33 -2 -1 -9|p:use+style_word -5 -6 20 -3 17 -22|p:use+tool_word 29 -6 3 2 -13 -16
p:use+we -12 0 19 0 0 -8|p:use+wherever 7 -5 -13 -4 25 -10|p:we+again -18 -11 38 -9 4 -5
p:we+approve -28 -3 62 -12 3 -22|p:we+better -12 36 3 -1 -10 -17|p:we+ends_q -1 -41 -6 -1 -2 51
p:we+git_word 37 -19 -15 -5 -7 9|p:we+lasting -1 -1 17 -1 -2 -11|p:we+learn 6 -2 -16 -2 -3 17
p:we+neg_q -10 25 -3 2 1 -16|p:we+prefer -17 -1 2 3 -2 16|p:we+product 11 -1 -10 -3 -14 17
p:we+question -4 -23 -6 -2 -4 39|p:we+reason 3 26 -20 0 0 -8|p:we+report -24 39 6 -2 -8 -10
p:we+request -19 -1 4 -4 -4 24|p:we+scope_lim 6 -13 22 -5 3 -13|p:we+should_q -17 7 -8 0 0 19
p:we+style_word -23 24 21 -4 -7 -11|p:we+tool_word 35 -13 1 -2 -5 -17|p:we+undo 12 -20 -9 -4 -2 23
p:we+wherever 7 -9 -8 6 -7 12|p:wherever+better -22 -1 -8 0 46 -15|p:wherever+ends_q -8 23 -12 -1 -3 1
p:wherever+git_word 32 -36 -8 8 -4 7|p:wherever+one_off -14 -8 9 45 -16 -15|p:wherever+product -19 -9 0 -7 29 6
p:wherever+question -8 24 -10 -1 -11 5|p:wherever+reason -7 -9 -4 -1 0 22|p:wherever+report 17 -15 -5 -2 -8 12
p:wherever+request 8 -34 0 0 19 7|p:wherever+scope_lim 0 14 -11 -5 17 -15|p:wherever+style_word 2 5 -1 -4 0 -2
p:wherever+tool_word 2 -14 3 -4 3 10|p:wherever+wrong -1 -23 -7 3 13 15|p:why_did+ends_q 0 36 0 0 -1 -34
p:why_did+question -7 15 -3 -1 -1 -4|p:why_you+ends_q -2 -5 -3 -3 -3 16|p:why_you+neg_q -3 -32 -7 0 -2 44
p:why_you+question -5 -10 -5 -3 -4 27|p:why_you+reason 0 -7 -9 -2 -1 19|p:why_you+scope_lim -11 12 13 -4 -5 -6
p:why_you+style_word -16 16 6 -4 -1 -1|p:why_you+undo -7 16 1 1 1 -11|p:why_you+wherever 0 -37 -17 1 -6 60
p:why_you+why_did -8 23 -3 -1 -2 -9|p:wrong+one_off -8 2 -1 62 -14 -41|p:wrong+report 35 -2 -7 -1 -15 -10
p:wrong+scope_lim 22 0 6 3 0 -31|p:wrong+style_word 46 -8 -7 1 -12 -19|p:wrong+tool_word -8 -20 -1 0 25 4
p:you_did+git_word -10 -28 18 1 1 18|p:you_did+one_off 26 0 -15 -30 -11 29|p:you_did+question 18 -9 -2 -1 0 -7
p:you_did+request 15 -26 16 -27 -7 29|p:you_did+scope_lim 28 -41 -1 24 -2 -8|p:you_did+style_word 26 -12 1 16 -2 -28
p:you_did+tool_word 25 -13 -9 0 -2 0|p:you_did+wherever 23 -14 8 0 -3 -15|s:caps -7 56 -8 -12 -20 -9
s:document -4 -2 -16 0 0 22|s:foreign -7 -10 8 -10 -16 35|s:interrupted 20 100 -9 -14 -45 -53
s:len0 -43 29 -31 -22 17 50|s:len1 -9 12 -15 -8 7 14|s:len2 19 -19 3 -5 -1 3|s:len3 -5 -19 32 -3 -3 -2
s:len4 -16 -10 23 -5 -12 20|s:lines -28 -17 -8 -10 -4 67|s:masked -18 -23 -16 -5 -15 77
s:rejected 27 52 -5 -22 -6 -45|s:sent0 -10 3 -23 -9 19 20|s:sent1 1 5 8 -10 -12 8|s:sent2 1 -19 5 -2 -2 17
s:sent3 -5 39 -5 -3 -7 -19|s:sent4 -28 -2 7 -12 -7 42|w:! -8 -21 -2 11 -10 29|w:0 -5 -37 -8 -7 52 5
w:000 -22 52 14 -3 -12 -30|w:01 -20 -39 -1 -3 -19 82|w:1 -18 4 -10 -12 -15 52|w:1 and -4 -39 -4 -8 65 -11
w:100 -9 -15 -9 -4 -51 88|w:12 -19 -39 2 -3 -32 91|w:14 -10 -19 -7 -3 -6 45|w:15 -4 12 -6 -8 42 -36
w:16 -19 -42 -5 -5 20 52|w:2 -8 -37 -14 -1 48 12|w:20 -11 36 17 -9 5 -38|w:3 12 -17 -9 -7 -2 23
w:4 -11 8 0 -2 32 -26|w:40 -3 47 -5 0 0 -38|w:5 -10 -16 10 0 55 -38|w:60 -1 -19 -1 -3 56 -32|w:8 -2 24 -3 -7 27 -40
w:9 -7 -28 11 -13 8 30|w:? -5 12 -4 -3 -4 5|w:? really -6 53 -1 -2 -4 -40|w:a -3 5 -1 -3 -5 8
w:a bit -17 12 -6 -6 47 -30|w:a lock 0 -30 -2 -1 -2 35|w:a look -9 -27 4 -1 -1 35|w:a merge -30 -6 -16 2 -1 50
w:a reason -10 57 -6 4 -31 -14|w:a review 20 42 -7 -5 -3 -46|w:above -13 33 12 -5 7 -34
w:actually -13 24 -4 -9 65 -63|w:add -13 -15 13 -17 10 23|w:add a -6 -11 3 -18 5 26|w:add an -15 -5 14 -3 47 -40
w:after the -12 42 -2 -1 -9 -18|w:again ? 0 51 0 0 0 -51|w:against -12 -28 -5 1 -6 50|w:agent -2 -17 -2 65 -12 -33
w:ah -3 -13 1 -1 -39 55|w:all -8 -7 12 -7 -28 38|w:all of -33 26 2 7 -29 27|w:allowed 18 -13 -6 -5 43 -37
w:almost -8 -29 -1 -2 -3 42|w:already 3 57 9 -8 -20 -41|w:also -18 -39 0 -5 25 37|w:also add -3 -8 0 -2 -24 37
w:also be -3 -6 -1 -3 70 -57|w:always -1 -12 16 -4 -3 4|w:an -8 11 16 -1 12 -29|w:an empty -12 -12 -5 -5 54 -21
w:and -2 -1 -5 -4 19 -7|w:and a -14 -8 1 -1 59 -37|w:and don't -9 -13 0 -2 56 -32|w:and it -24 52 -4 -6 -18 1
w:and now -6 49 -11 -3 -24 -5|w:and return -8 -3 -8 -4 51 -28|w:and what -3 50 -4 -2 17 -58
w:answer 77 -33 3 -8 -24 -15|w:any 9 3 -6 -5 -21 20|w:anything 18 -22 3 2 -6 5|w:api 12 19 -9 1 5 -28
w:are 18 -19 -9 -8 2 15|w:are you -9 -48 -1 0 0 58|w:aren't 18 -44 -12 -9 56 -10|w:arquivo -19 61 -6 13 -21 -29
w:as -6 -26 0 -7 4 35|w:ask 39 -5 9 -19 -13 -10|w:ask for 30 -28 1 -5 -13 14|w:asked -17 55 -3 -4 -13 -17
w:asked for -14 47 -2 -5 -13 -12|w:asking 25 -28 -3 8 11 -13|w:at -17 -16 3 15 -11 25|w:at all -5 -34 -2 -2 -21 63
w:at it 0 -17 -2 64 -13 -32|w:at the -15 5 8 -11 1 12|w:auf 63 6 0 -2 -17 -50|w:avec 40 -13 9 -7 34 -63
w:axios 67 -24 -8 -2 -19 -14|w:b -3 -63 0 1 34 30|w:base -13 42 40 -3 -29 -36|w:be -6 -12 -8 -7 40 -8
w:be a -4 -19 -9 19 53 -40|w:because -3 -27 -5 -2 -22 59|w:before 7 22 0 -6 17 -40|w:before the -33 35 14 -6 40 -50
w:before you 47 -23 -3 0 0 -21|w:bei -3 -11 -14 -3 -6 37|w:bei mir -34 -11 0 -1 -5 51|w:better 31 -14 -5 -2 7 -16
w:between -10 -23 26 -6 -22 35|w:bit -17 12 -6 -6 47 -30|w:bitte 34 -1 13 -10 -21 -15|w:bot -5 -36 -3 2 -1 44
w:branch -9 -15 -10 14 -6 27|w:branches 31 -42 -3 -6 -1 20|w:browser 76 -13 2 0 -12 -52|w:build -4 37 1 2 -12 -24
w:builds -43 20 -10 -15 -16 65|w:bump 59 -43 -3 0 0 -13|w:but -5 -15 -1 3 15 4|w:but in -6 -44 -5 -2 -19 76
w:but the -6 25 -7 -3 34 -43|w:by -5 -8 21 -6 -2 0|w:by hand -4 3 10 -3 -23 17|w:c 15 7 1 -8 18 -33
w:cache -14 -15 -12 -13 46 9|w:call -44 47 32 -7 30 -58|w:can -5 -15 -6 -5 29 2|w:can we -16 46 -3 -7 3 -23
w:can you 1 -29 -9 -4 -10 51|w:can't 25 -22 -15 5 11 -4|w:carry 11 -35 3 68 -14 -34|w:carry on 11 -35 3 68 -14 -34
w:case 0 -26 14 -7 54 -35|w:cause -3 -23 -4 -2 -22 55|w:ce -27 57 11 -2 -6 -34|w:change 13 37 -8 -8 -18 -17
w:change it 28 -41 -8 -4 -12 38|w:changed -7 -24 -7 14 30 -5|w:changelog -31 -2 36 -2 -13 11
w:changes -1 46 -6 -2 -11 -26|w:check -9 -19 -9 3 -7 41|w:chose -6 -38 -6 -13 -7 70|w:class -15 48 17 -2 -20 -29
w:clean 21 28 -3 -3 -3 -40|w:clean up -10 50 0 0 0 -40|w:client 40 27 -6 -9 -6 -45|w:clock -18 -9 2 -5 49 -20
w:code -5 32 25 -6 -16 -29|w:code base -4 13 42 -3 -18 -30|w:code with -24 44 17 -2 0 -35
w:codice -7 -12 86 14 -18 -63|w:column 8 25 -5 -3 28 -53|w:come -3 58 -10 -21 3 -27|w:come from 12 63 -5 -1 -16 -53
w:comes -10 -17 1 -3 -28 58|w:comments 18 -24 -1 17 -16 7|w:commits 14 19 11 2 -6 -40|w:con 10 -32 -21 11 -6 39
w:conflict -27 -11 -12 -3 -3 57|w:context -7 46 -4 -2 -1 -32|w:context ? -8 52 -3 -1 1 -41
w:continue -24 -77 1 0 -2 101|w:conventional -5 0 42 1 -2 -37|w:conventional commits -5 0 42 1 -2 -37
w:copies -10 56 -2 -2 -5 -37|w:correct 19 -35 0 -6 -6 29|w:correct ? 0 -40 0 0 -4 46|w:created -14 -24 -1 0 -20 59
w:csv -25 -6 11 -6 55 -29|w:código 40 -8 4 8 -15 -28|w:da -15 -1 -5 -5 -20 46|w:dans -16 -1 -11 -6 69 -35
w:darf -19 -8 -25 -7 66 -6|w:das -18 -6 -19 32 -50 60|w:data 3 4 4 -7 16 -20|w:days -25 62 -1 -3 30 -62
w:de -24 -20 13 -8 25 13|w:decided -11 -37 -3 -2 -1 53|w:default 2 -16 -10 -4 -3 31|w:demandé -38 65 1 1 -3 -26
w:den -26 3 41 9 -8 -19|w:der -37 37 -23 -6 -10 38|w:deutsch 80 -16 -11 2 -9 -46|w:devices 9 -53 -8 -3 -7 64
w:did -14 27 -4 -7 -12 9|w:did it 0 -56 -3 0 -3 63|w:did you -1 35 -3 0 -5 -25|w:didn't we 0 44 -1 -1 -4 -38
w:die -8 33 -10 14 12 -40|w:diff -28 63 -2 -15 -7 -12|w:different -20 54 4 -5 -12 -22|w:disable -13 -18 -4 -30 6 59
w:disk -10 12 -5 18 18 -33|w:do -1 -2 -4 15 -5 -4|w:do i -3 -28 -2 -3 -13 49|w:do that -15 29 6 64 -15 -70
w:do the 27 -4 -10 2 19 -34|w:do this 0 -20 -1 42 -28 7|w:do we -4 -49 -3 -2 -4 61|w:do you -15 35 -3 -3 -7 -7
w:doch -8 83 0 -1 -27 -47|w:does -8 -4 -1 -3 -11 27|w:does it -2 -19 -2 -1 -9 33|w:does that -1 85 -1 0 0 -83
w:does the -3 -59 18 -1 -12 57|w:does this 0 -40 -2 -1 -3 45|w:doesn't -33 77 -3 -11 -76 45
w:don't 20 -6 -9 -4 11 -12|w:don't need -26 41 -6 -4 12 -17|w:don't retry -8 -10 -2 -2 64 -41
w:don't see -2 -33 -1 0 -22 57|w:done 3 -5 -5 -20 -15 43|w:done with -5 -51 -1 -2 -2 60|w:draft 60 -18 -7 -10 -4 -21
w:drop 39 -44 2 -5 42 -35|w:drop the 60 -51 0 -6 39 -42|w:du -19 46 -5 3 -8 -18|w:each 12 -6 -2 33 -23 -15
w:einen -28 48 -2 -3 -25 9|w:el -10 -26 1 4 -25 56|w:empty -18 -24 -7 1 29 18|w:en -13 -4 19 -5 23 -21
w:enough -46 -13 -12 -14 73 12|w:entry -12 -6 -3 57 -26 -11|w:env 4 34 -11 -4 -11 -12|w:errors 38 -12 -16 -2 -6 -2
w:es -33 51 31 -18 36 -66|w:eu -24 52 -5 -11 56 -68|w:ever -22 -18 12 -2 0 31|w:every 21 -3 2 -3 -14 -3
w:everything -25 19 30 -8 -23 7|w:expected -15 -13 -4 -6 -22 60|w:feel -27 1 -10 -5 -18 58
w:fetch 67 -24 -8 -2 -19 -14|w:fichier -37 64 1 1 -3 -25|w:field -17 -34 24 -5 0 33|w:file -1 4 -6 1 18 -16
w:file is 35 -37 -3 -6 36 -25|w:files 19 -14 -1 -10 -15 22|w:fine -7 -19 -9 20 -5 20
w:fine here -28 -14 -27 49 -31 52|w:first -25 6 -2 13 13 -5|w:first two -14 -12 -2 -9 68 -31
w:fix it -5 -23 -11 -3 -18 59|w:fix the 10 22 2 -8 -5 -21|w:fixed 52 -2 -16 -5 -1 -29|w:flag -9 -18 -11 -2 7 33
w:focus 59 -12 8 -5 -5 -46|w:folder -18 -10 -10 -10 29 19|w:folder is -5 43 -3 -3 10 -42
w:follow -15 -6 -8 -4 -11 44|w:for 5 13 0 6 -6 -18|w:for a 6 29 -5 -6 -4 -21|w:for now 1 -24 2 0 70 -47
w:for one 20 45 -12 -5 -14 -34|w:for that 29 -27 -11 -6 18 -3|w:for the 16 -17 -7 13 -19 14
w:for this -14 -4 -4 42 -14 -5|w:found -14 -21 -8 -4 -12 59|w:four -19 26 8 10 -35 11|w:from 3 -6 -11 -7 -12 34
w:from the 29 -22 -13 -4 -1 11|w:frontend -13 -30 3 -6 -32 77|w:function 9 -15 -12 -22 9 30|w:für 1 -17 -1 35 -8 -11
w:gb -16 -42 -2 -1 -13 74|w:general -17 0 39 -1 -3 -18|w:git -16 28 -14 -3 -11 16|w:give -23 -24 63 -2 13 -27
w:give me -18 -17 67 1 -18 -16|w:go 10 -35 25 1 -2 2|w:go on -39 -35 3 0 -41 112|w:good -41 19 33 -10 -12 11
w:great -17 33 -3 -3 -10 1|w:had 1 6 -18 -1 -33 44|w:hand -4 3 10 -3 -23 17|w:happened -17 57 -1 -15 -18 -7
w:happens -6 -7 -6 -5 -20 43|w:has -25 33 -4 -8 41 -38|w:has to -20 -10 5 -5 39 -9|w:have -14 -1 -2 5 3 9
w:have a -9 -26 0 3 -10 43|w:have the -21 -18 0 52 24 -36|w:helper -10 -18 -17 -4 22 27|w:here 18 -18 -1 19 -23 5
w:hm -14 -4 -1 -11 -6 36|w:how -7 58 -6 -7 -11 -27|w:how a -16 67 -9 -6 -18 -18|w:how do -5 -23 -4 -3 -8 43
w:i -4 2 2 -6 -10 17|w:i ask 45 1 -6 1 -15 -26|w:i can -5 41 18 6 -14 -47|w:i didn't 27 -62 -7 -4 -1 48
w:i don't 55 -34 -19 -4 -18 19|w:i had -8 -12 1 6 -36 50|w:i know -8 93 -4 -2 -1 -76|w:i like -18 -33 23 -1 -4 34
w:i made -6 -38 -6 1 -24 74|w:i merged -12 -23 -3 -19 -6 63|w:i see -12 -18 -1 1 -18 48|w:i want -21 -1 20 3 -5 4
w:i'd -3 -20 -7 -1 35 -5|w:i'll -2 -49 -7 3 -1 55|w:i'm 7 5 -5 15 -12 -9|w:i'm a -14 52 11 -2 -18 -30
w:i've -15 30 -13 -5 -21 23|w:ich 35 -20 29 4 -17 -30|w:id 10 -22 -10 -5 27 1|w:if -5 -30 -4 -4 31 13
w:image -23 -27 -8 -11 -27 95|w:immer 5 -19 -10 -3 -6 32|w:in 7 2 7 -4 1 -14|w:in a 35 28 -19 -3 -6 -36
w:in general -17 0 39 -1 -3 -18|w:in mind -23 -2 45 1 1 -22|w:in src 7 -25 -9 -6 -13 46|w:in the 10 4 -8 -5 6 -7
w:in there 33 -28 -6 -1 53 -51|w:in this 3 -8 10 10 -14 0|w:instead 5 -29 -12 -4 36 4
w:instead of 13 -26 -5 -1 37 -17|w:internet 49 -14 1 7 -3 -39|w:into 10 1 -7 -16 -21 34
w:into the -4 -2 -9 -24 -23 62|w:is 1 -3 3 4 -10 5|w:is a 25 12 -16 -7 -5 -9|w:is enough -25 -9 2 -1 56 -24
w:is fine -26 8 11 42 -13 -22|w:is for 12 47 14 -9 -18 -46|w:is it -5 -24 -2 -2 -2 35|w:is that -9 -39 -11 -3 -5 67
w:is the -9 -34 1 -2 6 38|w:is there -4 16 -13 -1 -25 27|w:isn't -22 68 -10 -14 7 -30|w:isn't it -6 -63 -3 -1 -1 74
w:iso 37 -18 -12 -19 47 -36|w:ist -20 9 -24 -5 -3 43|w:it -10 -7 -7 -3 5 21|w:it ? -4 87 -2 0 -24 -56
w:it and -13 -11 -7 -5 -10 45|w:it doesn't -16 -40 0 -4 -3 63|w:it fails 1 52 2 2 -6 -51|w:it has -11 5 -4 -6 50 -34
w:it in 7 -19 13 -8 19 -12|w:it must -29 0 -4 -2 42 -7|w:it on -4 -25 -13 -2 -11 54|w:it only -20 -24 2 2 -21 61
w:it should -6 -5 -4 -3 46 -28|w:it to 34 -13 -21 18 -20 2|w:it was -24 64 -6 -11 -7 -16
w:it when -15 -3 1 -6 66 -43|w:it's -6 25 -7 -5 -5 -2|w:it's a -10 41 -5 8 -9 -26|w:it's not -18 39 -5 -5 -29 19
w:its 9 -13 54 -10 -11 -29|w:ja und -8 -5 4 -5 65 -52|w:je -38 65 1 1 -3 -26|w:job 3 -20 2 -7 -20 42
w:json 12 33 -6 -8 22 -54|w:just 13 14 -8 29 2 -50|w:just run 40 11 -3 -3 -7 -38|w:keep 41 -23 7 0 -12 -13
w:keep the 31 -16 -10 1 2 -8|w:key -18 26 -17 -8 -2 19|w:killed -20 -33 -3 -1 -11 68|w:know -17 68 -5 -9 -17 -21
w:known -34 -32 -3 92 -14 -8|w:la 1 -21 -18 -17 46 9|w:laptop -16 -43 0 -12 -6 78|w:last -11 -54 -6 -7 51 27
w:later -4 -11 -1 -17 67 -34|w:leave 53 -12 -8 3 -8 -28|w:left -22 9 -1 -2 -20 36|w:legacy -14 -24 27 -8 75 -55
w:les 31 -13 5 5 -22 -6|w:let 2 -31 -16 43 4 -1|w:let it 2 -17 0 -7 55 -33|w:let me 6 -25 -17 36 -20 21
w:let's -31 19 -14 -12 28 10|w:let's do 2 -7 -1 -4 -46 56|w:lgtm -13 -40 21 -3 -7 42|w:lib -26 -7 41 -5 1 -5
w:like 3 -13 24 -8 3 -8|w:like it -1 -41 -7 -1 -5 56|w:like this -2 -5 59 -3 1 -50|w:line -11 5 34 -8 -16 -5
w:lint -2 -39 -9 10 -9 50|w:linux -1 -19 0 -22 45 -2|w:little -18 -14 -3 -2 72 -34|w:live -9 -16 4 0 -17 37
w:load -28 -5 -10 1 -23 66|w:local 17 57 -7 2 -10 -59|w:lock -7 -18 10 -2 -6 23|w:log -17 7 -12 -4 44 -18
w:log in -3 -7 -2 1 68 -56|w:logs 6 -21 -9 -4 -4 32|w:lol -15 -38 -2 -1 -6 62|w:long 0 -45 0 1 -7 51
w:look -4 8 -2 21 -34 11|w:look at -11 7 3 28 -12 -14|w:looks 2 -16 0 -1 -17 32|w:loop -11 45 12 -2 -8 -35
w:lost -12 -30 -2 -3 -16 65|w:machine 34 -26 -6 -7 -30 35|w:machine and -34 -20 -8 0 -2 64|w:made -8 -33 -1 -4 -9 55
w:main -7 -1 16 -12 -10 13|w:make 12 -24 -12 -2 58 -33|w:make it -7 -33 1 1 40 -2|w:makes -5 -30 -7 -3 -11 57
w:makes sense -7 -33 -7 -3 -12 63|w:max 31 -17 -25 -5 47 -32|w:mb -28 -15 -18 -19 20 60|w:me -2 -6 23 3 -11 -8
w:me da -12 -19 -7 -3 -22 63|w:me do 31 -29 -7 74 -8 -61|w:me the 11 -32 10 -2 13 -1|w:memory -17 -11 -5 -3 -18 54
w:merge -14 -26 -15 -8 20 42|w:merged -24 -46 -10 -6 44 41|w:mind -22 -13 40 -5 51 -51|w:mine 6 53 -7 -1 -20 -31
w:minutes -12 2 0 -7 -35 51|w:mir 41 -26 -1 -4 -16 6|w:missing -5 -26 4 -5 11 22|w:mode 2 -28 -2 -41 74 -6
w:module 23 6 -17 -1 -24 12|w:modules 28 -15 21 -8 -30 5|w:month 5 -6 -6 -6 40 -26|w:more -11 -18 3 -14 6 33
w:much -3 40 -9 -1 1 -28|w:my -7 21 -1 7 4 -23|w:my machine 40 -32 -9 -4 -9 16|w:myself 22 -58 -6 63 -16 -6
w:name -5 -21 12 -7 45 -24|w:names 17 -19 -12 -3 35 -18|w:necesito -6 50 7 -2 -5 -44|w:needed -16 -33 -13 15 -4 51
w:needs 9 -22 16 -4 52 -50|w:needs it -14 -16 5 0 71 -45|w:nested 8 -11 -4 -4 45 -33|w:new -15 2 45 -14 -18 -1
w:next 21 -21 -16 -3 -12 31|w:nginx -7 -26 -4 -7 53 -9|w:nice -2 -23 -28 -7 -7 67|w:nicht 40 -29 -12 24 12 -36
w:no 14 -13 -2 1 1 -1|w:noch -13 -29 -5 7 -4 44|w:normally -14 43 -20 62 -29 -42|w:not 11 -2 -7 -4 6 -4
w:not in 33 -21 -13 11 -2 -8|w:not the -35 -34 -1 -6 73 4|w:not to 43 -42 0 -2 -11 12|w:notice -24 41 30 -2 -3 -42
w:now -15 19 -6 -5 13 -5|w:now the -13 -1 -3 -4 -21 43|w:numbers -15 -26 21 -5 -29 54|w:não 2 30 -9 3 -29 4
w:o -2 -17 -11 6 -5 29|w:of 9 -13 -9 -6 10 8|w:of the -21 -17 11 -4 20 12|w:ohne 3 -28 38 -16 61 -58
w:ok -5 -5 -7 0 -9 26|w:ok but 48 46 -24 9 -9 -69|w:ok then -2 -54 8 -4 -9 62|w:old rows 0 -4 0 -1 44 -38
w:on -5 -7 -4 1 -6 21|w:on its -13 1 58 -9 -11 -26|w:on my 35 -30 -6 -5 -8 14|w:on the 3 -20 -12 0 8 22
w:once -26 -12 -5 0 25 18|w:one -13 -12 -2 21 13 -6|w:ones 22 -12 -22 13 4 -6|w:only 7 21 -11 -3 9 -23
w:only the 31 18 -28 9 -16 -14|w:only when 63 -23 -13 0 -18 -10|w:or 39 -42 -5 -5 5 7|w:order -31 -14 12 -6 0 38
w:other 28 -26 -16 0 -22 36|w:otherwise -1 -13 34 -4 2 -18|w:oui -4 -13 7 -6 -38 53|w:ours 45 -13 -18 -10 42 -46
w:out -3 -15 11 -5 -17 29|w:over 0 -6 33 -4 -15 -9|w:overwrite -9 -13 -5 -7 49 -15|w:own 21 16 -12 2 -2 -26
w:package 7 43 -15 -5 -11 -20|w:page 17 -9 -15 -6 -12 26|w:par -3 -15 4 -2 -58 73|w:parameters 4 69 -2 -1 -32 -39
w:part -6 -14 -3 12 38 -26|w:pas -14 34 -11 -6 -10 7|w:passed -14 -55 -3 -14 -8 94|w:path -3 42 25 -2 -2 -61
w:people 34 -16 -9 -6 -15 12|w:per 14 -18 3 -3 36 -32|w:perfect -24 -28 34 -9 -5 33|w:pipe 50 -17 1 2 -2 -33
w:pipeline -14 -30 -4 43 -36 41|w:please 24 -4 6 -8 -14 -4|w:pode -26 -35 -2 -4 -28 96|w:por 5 -13 -7 -11 -26 52
w:pour -6 -11 4 -15 -6 34|w:pr -2 -19 -4 17 -5 14|w:problem -8 -27 -3 -7 -31 76|w:process -4 -31 -3 -4 -13 55
w:prod -20 44 16 -6 -7 -27|w:profile -9 0 -19 -6 68 -34|w:project -21 -2 26 -5 -6 8|w:prs 31 -30 -6 -3 -45 54
w:public 10 31 -5 0 -7 -29|w:push 32 -14 -4 -4 -8 -2|w:put 10 7 -17 9 22 -31|w:query 39 -25 -16 -9 42 -31
w:quick -14 -29 3 7 -18 51|w:ran -5 -33 -2 -1 -4 45|w:raw -14 53 5 0 -7 -37|w:read 29 31 -12 -5 -18 -25
w:readme -32 73 -1 0 -5 -35|w:really -21 -8 11 3 40 -24|w:really ? -6 53 -1 -2 -4 -40|w:reason -11 40 -5 2 -28 3
w:redis -15 -4 -15 -11 -4 49|w:release 7 -23 0 -6 -3 25|w:remove 3 -23 -8 3 -17 42|w:remove it -1 -52 -3 -2 -9 66
w:remove the -12 24 1 -7 -40 33|w:reply -20 -24 -3 33 -52 65|w:repo 1 26 11 -13 -8 -18|w:repo is 1 50 10 -15 -6 -40
w:requests 39 -4 30 -12 -21 -31|w:retry -2 -43 -7 -4 46 10|w:return -8 -20 -8 -4 37 3|w:review 17 22 -12 -4 -15 -8
w:reviewers 60 -18 -7 -10 -4 -21|w:right 1 -13 -17 -11 23 17|w:right before -15 61 -9 -6 26 -57
w:rows -13 -14 -3 -2 53 -20|w:rule 37 -53 -15 -4 -14 48|w:run -3 -7 -2 0 -10 23|w:run it -8 37 -1 -1 -26 -2
w:s -6 -6 -5 -6 64 -41|w:said -22 43 -6 -1 15 -29|w:same -12 -11 -9 -6 11 26|w:say 2 -36 16 -4 52 -31
w:saying -2 40 -3 -7 0 -29|w:says -4 0 11 -5 -17 15|w:schema 1 -27 13 -1 -12 26|w:screenshot -8 -31 -4 -4 -11 58
w:second -12 -21 -7 -6 19 27|w:second one 1 -66 2 -1 -24 87|w:security 2 -9 -6 67 -15 -39|w:see -4 8 -5 -1 -22 24
w:see the -11 52 1 0 -7 -35|w:sense -7 -33 -7 -3 -12 63|w:server -26 -23 5 -10 -25 79|w:service 22 61 -2 1 -20 -61
w:set -5 -39 -5 -2 -7 58|w:shell 70 -14 -4 1 -15 -37|w:ship -7 -42 -1 -4 -21 76|w:should 0 -16 -9 -8 27 7
w:should also -1 -1 0 -2 48 -44|w:should be -3 -27 3 -15 24 18|w:should go 55 1 -17 -1 -25 -13
w:shouldn't 0 31 -11 -7 18 -31|w:show -19 -23 -2 -4 36 12|w:shows -25 -10 -5 -1 -3 44|w:si -7 0 -26 -6 69 -30
w:simpler -3 -38 -10 0 0 52|w:sin -22 -17 -13 -10 53 9|w:since 5 -5 2 6 16 -25|w:size -18 1 5 -4 50 -34
w:slow -7 -22 -10 -7 65 -18|w:snake 64 -10 -7 -1 -26 -20|w:snake case 64 -10 -7 -1 -26 -20|w:so -17 -5 11 -5 -7 22
w:so that -6 -22 -2 -3 -22 54|w:so the -16 26 -5 1 -1 -5|w:solo 6 -30 19 13 -26 18|w:some -5 -30 -5 -7 -1 47
w:somebody -8 53 8 -5 -14 -32|w:somebody has -7 59 12 -5 -15 -44|w:something 24 -17 11 -7 -7 -5
w:sorry -27 -42 -4 -4 4 73|w:sound 0 45 -1 0 -5 -39|w:staging 1 -25 -2 -7 85 -51|w:start 18 -32 -5 -7 18 7
w:start with 38 -4 0 -5 19 -49|w:status -34 -14 4 -5 25 23|w:step 17 -22 2 -13 -16 31|w:still -8 -43 0 6 2 44
w:stop 28 -19 -6 3 -45 40|w:strict 2 -11 1 -41 70 -21|w:strings 51 -15 -9 -4 -16 -7|w:sure -7 -38 -6 -2 -9 62
w:sync -14 -21 -8 -4 13 33|w:sì -9 -31 76 -14 -82 60|w:t -26 -23 13 -4 -8 47|w:table 12 -16 6 -22 0 20
w:take -9 -31 26 -8 5 16|w:te 12 40 -6 -9 -10 -27|w:team -21 -17 44 -4 -6 4|w:tell 31 2 -7 1 -6 -22
w:tell me 37 -16 -6 2 -5 -12|w:telling 42 -11 2 -6 -1 -26|w:telling me 42 -11 2 -6 -1 -26
w:terminal 20 4 5 -4 10 -36|w:test -17 20 15 -11 -8 0|w:test for 0 -6 -2 -24 -4 36|w:tested -10 46 11 -6 -18 -24
w:tests are 74 -18 0 1 -6 -50|w:text 41 -17 5 -8 -17 -4|w:thanks -28 5 -4 -8 -42 77|w:thanks ! -6 -42 -6 -4 -10 68
w:that -4 20 -3 6 -11 -7|w:that ? -2 49 0 -2 -2 -43|w:that in -14 -1 20 -2 32 -35|w:that one -4 -19 -2 71 14 -60
w:that was -3 -37 0 -6 -17 63|w:that's how 10 63 0 -7 -23 -43|w:that's the 22 2 27 -2 -21 -29|w:the -1 -1 -4 -4 2 8
w:the bot -3 -41 0 2 0 43|w:the cause -3 -23 -4 -2 -22 55|w:the client 39 30 -14 -10 -5 -41
w:the commit -5 68 -3 5 12 -76|w:the data -20 6 2 -2 57 -43|w:the diff -29 66 -1 -16 -7 -13
w:the first -19 -27 -21 -3 35 35|w:the frontend -13 -30 3 -6 -32 77|w:the last -11 -43 -1 -1 11 46
w:the legacy -1 -25 -1 -3 86 -56|w:the lock -1 -36 23 0 -1 16|w:the log -2 -23 -13 -1 -2 41
w:the machine -2 -1 -1 -4 -37 44|w:the numbers -15 -26 21 -5 -29 54|w:the one -13 -13 -2 -8 61 -25
w:the ones 38 0 -29 2 0 -10|w:the other 15 -27 -19 3 -18 47|w:the release 20 -28 -3 -21 -4 35
w:the same -20 -11 -9 -6 15 30|w:the schema 51 -25 -6 0 -11 -10|w:the script -16 -23 -1 -1 -2 42
w:the second -10 -49 -2 -3 28 37|w:the security 2 -9 -6 67 -15 -39|w:the server -18 -12 -1 -6 -4 42
w:the test -12 57 -17 0 -3 -25|w:the tests 4 -20 -9 -5 -15 44|w:the third -14 -12 -2 -9 68 -31
w:the top -25 -15 35 -6 54 -42|w:them 20 -17 1 3 3 -10|w:them to -7 -28 -4 -3 59 -18|w:then -8 -24 2 0 15 16
w:then ? -1 -31 0 -1 -7 40|w:there -9 4 -3 -9 12 4|w:there ? -3 -36 -1 0 -1 40|w:there a -5 23 -11 -1 -23 18
w:there's -9 -9 -11 -4 25 7|w:these 31 -8 -17 -8 23 -21|w:they 16 -28 -6 -8 9 17|w:they ? -2 -39 0 -1 -15 57
w:they are -17 -20 2 -4 68 -28|w:they be -4 -29 -2 -2 -10 47|w:they don't -3 65 -5 0 -9 -47
w:thing 6 14 -15 -6 25 -25|w:things -44 55 51 -7 -19 -36|w:third 9 -16 -8 -11 58 -33|w:this -6 1 7 12 -12 -2
w:this first -6 -51 17 -18 0 59|w:this function -6 -1 -8 -26 -16 57|w:this it's -12 55 -4 16 -6 -49
w:this one -14 -3 0 61 -26 -18|w:this project -20 0 30 -4 -1 -5|w:this time -4 -9 -6 39 -8 -11
w:those 6 24 -17 -1 -2 -11|w:though 8 -17 -6 -3 -24 42|w:three -7 43 2 -1 -30 -7|w:ticket -32 -2 22 15 -13 10
w:time 5 -13 -10 25 -12 4|w:timeout -16 -30 0 -1 -4 50|w:times -26 38 -4 -3 23 -28|w:to 3 0 -6 -2 -3 8
w:to enable -10 -27 -4 -2 -9 54|w:to read -11 -9 -6 9 -27 44|w:to use -30 -11 -10 9 13 29|w:today -5 2 1 38 -10 -26
w:told -12 37 -3 -1 10 -32|w:told you -12 37 -3 -1 10 -32|w:too -6 -23 -5 -5 15 24|w:top -23 -14 29 -8 55 -40
w:total 38 -24 -30 -3 -8 27|w:touch -9 -16 -2 6 -10 32|w:tried -15 -17 -10 -4 -4 51|w:try 17 -43 -6 -5 -28 66
w:twice -23 -28 -2 -2 32 23|w:twice ? 0 -40 0 -1 -3 44|w:two -15 -29 -9 -9 3 58|w:und -17 12 -3 -9 72 -55
w:until 13 2 10 -40 -24 39|w:update -18 -20 -5 -1 -10 53|w:update the -24 -7 0 -1 -12 44|w:us 33 3 -17 -5 -5 -9
w:used -12 -35 6 -4 17 28|w:user -22 -8 13 -4 29 -8|w:using -5 -24 -3 -1 -2 34|w:utc -7 13 -1 -2 74 -76
w:validation -8 -53 -3 -2 -13 78|w:version -8 -32 8 -1 -7 40|w:vitest -9 -19 12 -7 74 -52|w:w 15 -27 -15 -7 47 -13
w:wait 9 -42 -3 1 -17 51|w:waiting -2 -36 -3 4 63 -26|w:want -6 2 17 2 -4 -11|w:was -21 30 -10 -10 -23 34
w:way -23 -23 55 -7 -13 11|w:we -2 -17 2 -4 -4 25|w:we decided -11 -37 -3 -2 -1 53|w:we know -1 -42 -2 -1 -1 46
w:we use -9 -2 42 -2 -16 -12|w:we're 9 10 19 6 -5 -38|w:we're a -10 -13 58 0 1 -35|w:we've 44 -3 -9 -4 -3 -26
w:went -14 -36 -3 -5 -12 69|w:went from -11 -29 -3 -4 -8 56|w:what -2 9 -6 -6 -7 11|w:what do -11 32 -6 -4 -16 4
w:what does -2 -35 16 -2 -12 34|w:what happened -13 69 2 -1 -15 -42|w:what's -10 -5 -7 -2 -16 41
w:what's the -9 -35 -7 -3 -18 72|w:whatever -13 -31 2 -4 -32 78|w:when -4 -19 18 -11 2 12
w:when i 18 -29 -8 -12 -10 42|w:when you 2 -14 51 2 -10 -31|w:where did -8 75 -2 0 -9 -56|w:which -8 -43 23 -6 9 26
w:why isn't 0 -46 0 0 -1 48|w:why it -10 61 4 3 -6 -51|w:windows -15 -15 -3 -41 26 48|w:with a -24 -15 39 -10 -8 18
w:with it -17 57 -1 0 -8 -31|w:with me -3 1 44 -1 -1 -39|w:with the -6 -20 -8 13 14 8|w:without 12 -22 3 7 8 -9
w:worked -11 -21 -7 0 -7 46|w:worker 0 -17 1 -5 -28 49|w:works -12 46 -14 -8 -4 -7|w:works on -15 -47 -5 -4 -4 74
w:would -13 12 -5 5 25 -25|w:wrap 54 -4 -20 0 -5 -25|w:wrapper 40 -22 -10 -2 -20 14|w:wrong -28 -23 4 -4 0 51
w:yep -1 -11 -11 -5 -29 57|w:yesterday -4 -20 -3 2 -29 54|w:yet 25 -40 -21 2 -72 107|w:you 7 6 1 -6 -10 3
w:you also -2 -24 0 0 -11 38|w:you know -8 60 -7 -2 -7 -35|w:you make 38 -34 -30 0 -6 31|w:you sure -6 -44 0 1 0 50
w:your own 24 26 -7 -3 -1 -38|w:yourself 22 38 -8 -2 -5 -45|w:zeile -25 -10 -16 -2 -3 55|w:ótimo -3 -36 -3 -4 -30 75
w:без 49 -19 -17 -9 42 -46|w:в -15 -3 51 12 -4 -41|w:и -6 8 37 -16 37 -59|w:код -16 -2 50 13 -5 -40
w:комментарии 20 -9 52 -4 -6 -51|w:на -36 -37 45 -7 -9 44|w:не 48 -40 -20 2 -19 29|w:но -13 -10 47 -10 52 -66
w:с -25 -1 -20 -18 36 28|w:спасибо -36 -31 -13 0 -3 82|w:一 -20 -2 25 5 -6 -1|w:不 2 -8 -10 -6 23 -1
w:先 58 -24 5 12 -18 -33|w:前 60 -25 16 -5 -11 -34|w:合 69 -26 -9 14 -15 -33|w:必 66 -22 -2 -4 -10 -27
w:我 41 -19 16 -4 -8 -26|w:继 -7 -10 11 -4 -43 53|w:继 续 -7 -10 11 -4 -43 53|w:续 -7 -10 11 -4 -43 53
w:都 -29 0 37 0 0 -8|x:again+asked -5 36 -7 -18 -30 23|x:again+did -12 1 -3 -4 -8 26
x:approve+asked -8 -21 7 -9 -39 70|x:approve+did -15 -9 12 -7 -17 36|x:better+did 8 24 -3 -6 -7 -17
x:can_not+did -9 14 -4 8 -14 5|x:dont+asked -32 -2 21 11 27 -25|x:dont+did 63 -11 -9 -7 -18 -18
x:dont+start -47 -3 -7 6 -11 62|x:ends_q+asked -3 -27 -4 -5 -22 61|x:ends_q+did -9 18 -6 -5 -8 10
x:ends_q+start -2 -18 -2 7 -2 17|x:instead+did 10 -19 -11 -9 53 -24|x:instead+start -3 0 -15 -2 -22 41
x:lasting+asked -9 0 43 -6 -4 -24|x:lasting+did 12 -12 10 -3 -8 0|x:lasting+start -28 -1 38 -5 -5 1
x:learn+did 0 -3 40 -1 -16 -20|x:learn+start -1 -3 -9 -4 -3 20|x:lost+asked -4 -1 -2 4 25 -22
x:lost+did -5 -6 -13 -9 -11 42|x:neg_q+did -7 4 -4 -3 6 4|x:no_first+asked -21 -12 -8 5 29 7
x:no_first+did 27 -15 -7 3 10 -17|x:not_x+asked -5 -1 -4 -1 34 -23|x:not_x+did 14 -20 -1 -1 14 -6
x:not_x+start -7 -2 33 -1 -6 -17|x:observed_q+did -5 6 -2 -2 -5 7|x:one_off+asked 1 -8 -18 75 -34 -16
x:one_off+did -30 -22 -1 50 18 -15|x:one_off+start 0 -1 1 57 0 -56|x:prefer+asked -11 0 5 18 -8 -3
x:prefer+did 2 0 6 -8 -16 16|x:prefer+start -18 0 35 -2 -3 -11|x:question+asked -4 -26 -5 -5 8 32
x:question+did -11 27 -7 -6 -9 7|x:question+start -2 -19 -9 5 -2 26|x:report+asked -10 4 -2 3 46 -40
x:report+did -8 -3 -5 -8 -19 43|x:report+start -7 -8 24 -6 -5 2|x:request+asked 20 -10 3 -2 -59 48
x:request+did 7 -25 -6 -11 12 24|x:request+start -16 -9 -21 8 -22 59|x:scope_lim+asked -15 -15 2 26 21 -20
x:scope_lim+did 5 5 -9 5 -2 -4|x:scope_lim+start -20 -6 36 18 -6 -22|x:should_q+did -2 16 -4 -3 -9 2
x:standing+asked 4 2 36 -3 -11 -27|x:standing+did 24 -11 14 -6 -11 -11|x:standing+start -26 -2 18 -4 -4 19
x:thought+did -21 42 -13 -6 10 -13|x:undo+did -4 55 -11 -11 -11 -19|x:use+did 21 -13 0 -1 3 -11
x:use+start -3 -2 12 14 -3 -18|x:we+asked -12 -5 34 9 -3 -23|x:we+did 34 -12 10 -8 -13 -11
x:we+start -21 -4 27 -4 -4 4|x:wherever+asked -24 -8 -1 4 21 9|x:wherever+did 9 5 2 -6 -2 -8
x:wherever+start -20 -1 -4 -4 -8 37|x:why_did+did -8 33 -3 -1 -2 -19|x:why_you+did -9 9 -6 -3 -5 14
x:why_you+start -3 -23 5 -3 0 23|x:wrong+did 28 -40 -12 9 9 5|x:wrong+start -30 2 -1 0 -16 45
x:you_did+did 9 23 1 -4 -9 -19
"""
ASKING = """
bias -9 9|c:add_also -58 58|c:again -6 6|c:always 3 -3|c:annoyed 34 -34|c:approve -13 13|c:ask_first 6 -6
c:better 1 -1|c:can_not 20 -20|c:design -59 59|c:dont 33 -33|c:ends_q -5 5|c:git_word -8 8|c:here 36 -36
c:instead 25 -25|c:lasting 35 -35|c:learn -13 13|c:leave 34 -34|c:lost -15 15|c:make_sure -29 29|c:meant -63 63
c:neg_q -2 2|c:never -1 1|c:no_first -17 17|c:no_noun 22 -22|c:not_x -1 1|c:note 40 -40|c:observed_q 3 -3
c:one_off -58 58|c:option -29 29|c:pejor 27 -27|c:prefer 17 -17|c:product -8 8|c:question -8 8|c:reason -4 4
c:report -15 15|c:request -25 25|c:restored 11 -11|c:scope_lim 7 -7|c:should -7 7|c:should_q 11 -11
c:standing 29 -29|c:stop -23 23|c:style_word 7 -7|c:system_must -41 41|c:thought 46 -46|c:thread_off 23 -23
c:to_me -6 6|c:tool_word 18 -18|c:undo 51 -51|c:use 30 -30|c:we 17 -17|c:were_you 18 -18|c:wh_q -11 11
c:wherever -8 8|c:who_asked 70 -70|c:why_did 63 -63|c:why_you -18 18|c:wrong 2 -2|c:you_did 57 -57|m:again -10 10
m:any 6 -6|m:better 8 -8|m:can_not 55 -55|m:dont -2 2|m:instead -30 30|m:learn -28 28|m:lost 22 -22|m:neg_q 9 -9
m:never -1 1|m:no_noun 69 -69|m:not_x -11 11|m:note 32 -32|m:observed_q -26 26|m:prefer 33 -33|m:pure 13 -13
m:should_q 32 -32|m:standing 1 -1|m:thought -54 54|m:undo -63 63|m:who_asked 10 -10|m:why_did 49 -49
m:why_you -24 24|m:wrong -10 10|s:caps 25 -25|s:document -139 139|s:foreign 2 -2|s:interrupted 90 -90|s:len0 -26 26
s:len1 -8 8|s:len2 -6 6|s:len3 9 -9|s:len4 -18 18|s:lines -34 34|s:masked -63 63|s:rejected 88 -88|s:sent0 -14 14
s:sent1 2 -2|s:sent2 -16 16|s:sent3 -23 23|s:sent4 -3 3
"""
