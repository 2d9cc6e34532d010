import { everyCommand, type CommandWords, type Values } from './command-words.ts'

/** Returns a script for bash 3.2 and later, which needs nothing of the package bash-completion. */
export function bashScript(program: CommandWords): string {
  const commands = everyCommand(program)
  return `# Completion of paydirt for bash. Load it with: source <(paydirt completion bash)

_paydirt_words() {
  case "$1" in
${cases(commands, ({ path, commands: below }) => [[path, below.map(({ name }) => name).join(' ')]])}
  esac
}

_paydirt_options() {
  case "$1" in
${cases(commands, ({ path, options }) => [[path, options.map(({ long }) => long).join(' ')]])}
  esac
}

# Completes the word behind an option, or the n-th word behind a command.
_paydirt_values() {
  case "$1" in
${cases(commands, ({ path, options }) => options.flatMap(({ long, values }) => (values ? [[`${path} ${long}`.trim(), listOf(values)]] : [])))}
${cases(commands, ({ path, arguments: given }) => given.map(({ values, isVariadic }, index) => [`${path} #${isVariadic ? '*' : index + 1}`.trim(), listOf(values)]), { isPattern: true })}
  esac
}

_paydirt() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" path="" option="" place=0 word values index
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    [ "$word" = "=" ] && continue
    if [ -n "$option" ]; then option=""; continue; fi
    case "$word" in
      -*) [ -n "$(_paydirt_values "\${path:+$path }$word")" ] && option="$word" ;;
      *) case " $(_paydirt_words "$path") " in
          *" $word "*) path="\${path:+$path }$word" place=0 ;;
          *) place=$((place + 1)) ;;
        esac ;;
    esac
  done
  [ "$cur" = "=" ] && cur=""
  if [ -n "$option" ]; then values="$(_paydirt_values "\${path:+$path }$option")"
  elif [ "\${cur:0:1}" = "-" ]; then values="$(_paydirt_options "$path")"
  else values="$(_paydirt_words "$path") $(_paydirt_values "\${path:+$path }#$((place + 1))")"
  fi
  case "$values" in
    *@file*)
      local IFS=$'\\n'
      COMPREPLY=($(compgen -f -- "$cur"))
      compopt -o filenames 2> /dev/null ;;
    *@any*) ;;
    *) COMPREPLY=($(compgen -W "$values" -- "$cur")) ;;
  esac
  return 0
}

complete -F _paydirt paydirt
`
}

/** Returns the branches of a case that print a list of words. */
function cases(
  commands: readonly CommandWords[],
  branches: (command: CommandWords) => string[][],
  { isPattern = false } = {},
): string {
  return commands
    .flatMap(branches)
    .filter(([, list]) => list !== '')
    .map(
      ([key = '', list]) => `    ${isPattern ? patternOf(key) : quoted(key)}) echo ${quoted(list ?? '')} ;;`,
    )
    .join('\n')
}

/** A place is quoted but for the star of one that goes on to the end of the line. */
function patternOf(key: string): string {
  return key.endsWith('*') ? `${quoted(key.slice(0, -1))}*` : quoted(key)
}

function listOf(values: Values): string {
  return typeof values === 'string' ? `@${values}` : values.join(' ')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
