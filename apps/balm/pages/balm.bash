# bash completion of balm. tests/tool/pages_test.cpp compares it with balm --help.

_balm() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command= subcommand= known= k

    for ((k = 1; k < COMP_CWORD; ++k)); do
        case ${COMP_WORDS[k]} in
            devices | selftest | bandwidth | cache | doctor) [ -n "$command" ] || command=${COMP_WORDS[k]} ;;
            list | size | clear) [ "$command" != cache ] || subcommand=${COMP_WORDS[k]} ;;
        esac
    done

    case $before in
        --color) known='auto always never' ;;
        --device | --seed | --size) return ;;
        --junit)
            COMPREPLY=($(compgen -f -- "$word"))
            return
            ;;
        *)
            known='--help --color'
            case $command in
                '') known+=' --version devices selftest bandwidth cache doctor' ;;
                devices) known+=' --json --device --verbose' ;;
                selftest) known+=' --json --device --seed --all --junit --quick --ulp' ;;
                bandwidth) known+=' --json --device --size' ;;
                cache)
                    known+=' --json'
                    [ -n "$subcommand" ] || known+=' list size clear'
                    ;;
                doctor) known+=' --json' ;;
            esac
            ;;
    esac
    COMPREPLY=($(compgen -W "$known" -- "$word"))
}
complete -F _balm balm
