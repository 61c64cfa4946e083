"""The scripts by which bash, zsh and fish ask for completions. `goodbot completion` prints them."""

from typing import Final

VARIABLE: Final = "_GOODBOT_COMPLETE"
"""The variable by which a shell asks; its value is `bash_complete`, `zsh_complete` or `fish_complete`."""

_BASH: Final = """\
_goodbot_completion() {
    local IFS=$'\\n' program=${1/#\\~\\//$HOME/} word=${COMP_WORDS[COMP_CWORD]} kind value
    case ${COMP_WORDS[COMP_CWORD - 1]} in *[\\<\\>])
        compopt -o default
        return
    esac
    type -P -- "$program" >/dev/null || program=goodbot
    while IFS=, read -r kind value; do
        case $kind-$word in
        dir-*) compopt -o dirnames ;;
        file-*) compopt -o default ;;
        plain-?*[\\"\\']*) ;;
        plain-[\\"\\']*) COMPREPLY+=("$value") ;;
        plain-*) printf -v value %%q "$value" && COMPREPLY+=("$value") ;;
        esac
    done < <(COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD %(variable)s=bash_complete "$program" 2>/dev/null)
}
complete -o nosort -F _goodbot_completion goodbot
"""
"""Bash inserts a value as it is given, so the script quotes it, unless the user has begun to. Of a word with a quote
further on, bash replaces only a part: no value is right there."""

_ZSH: Final = """\
#compdef goodbot

_goodbot_completion() {
    local -a answer values described
    local kind value about
    (( $+commands[goodbot] )) || return 1
    answer=("${(@f)$(COMP_WORDS="${(j: :)words}" COMP_CWORD=$((CURRENT - 1)) %(variable)s=zsh_complete \\
        goodbot 2>/dev/null)}")
    [[ $PREFIX == --*=* ]] && compset -P 1 '--*='
    for kind value about in "${answer[@]}"; do
        case $kind-$about in
        dir-*) _path_files -/ ;;
        file-*) _path_files -f ;;
        plain-_) values+=("$value") ;;
        plain-*) described+=("$value:$about") ;;
        esac
    done
    (( $#described )) && _describe -V goodbot described
    (( $#values )) && { compadd -V goodbot -a values || compadd -U -P "$IPREFIX" -V goodbot -a values }
    (( compstate[nmatches] ))
}

if [[ $zsh_eval_context[-1] == *func ]]; then
    _goodbot_completion "$@"
else
    compdef _goodbot_completion goodbot
fi
"""
"""Of values that begin as typed zsh adds only the rest, however it is quoted; with -U it replaces the whole word.
The end is for both ways of use: as a file of `fpath`, which is the body of a function, and in ~/.zshrc."""

_FISH: Final = """\
function _goodbot_completion
    set -l token (commandline -ct)
    set -l option (string match -r '^--[a-z-]+=' -- $token)
    set -l begun (string replace -r '^--[a-z-]+=' '' -- $token)
    for answer in (env %(variable)s=fish_complete COMP_WORDS=(commandline -cp | string collect) \\
            COMP_CWORD="$token" goodbot 2>/dev/null)
        set -l parts (string split -m 1 , -- $answer)
        switch $parts[1]
            case dir
                complete -C "'' $begun" | string match -r '.*/$' | string replace -r '^' -- "$option"
            case file
                complete -C "'' $begun" | string replace -r '^' -- "$option"
            case plain
                printf '%%s\\n' "$option$parts[2]"
        end
    end
end

complete --no-files --command goodbot --arguments "(_goodbot_completion)"
"""
"""Fish completes the whole word, option and value; it completes files for the command ''."""

_SCRIPTS: Final = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}
"""Not click's own: those change variables of the user, print an error if the program is not found, and complete no
files after `--output=`."""

SHELLS: Final = tuple(_SCRIPTS)


def script(shell: str) -> str:
    """Returns the script that makes a shell of `SHELLS` complete the command `goodbot`."""
    return _SCRIPTS[shell] % {"variable": VARIABLE}
