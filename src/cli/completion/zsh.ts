import { everyCommand, type CommandWords, type Values } from './command-words.ts'

/** Returns a script for zsh: to be loaded behind compinit, or a file \`_paydirt\` in a folder of \`fpath\`. */
export function zshScript(program: CommandWords): string {
  return `#compdef paydirt
# Completion of paydirt for zsh. Load it behind compinit with: source <(paydirt completion zsh)

${everyCommand(program).toReversed().map(functionOf).join('\n')}
if [ "\${funcstack[1]}" = "_paydirt" ]; then
  _paydirt "$@"
else
  compdef _paydirt paydirt
fi
`
}

function functionOf(command: CommandWords): string {
  const options = command.options.map(({ long, description, values }) => {
    const value = values === undefined ? '' : `:${long.slice(2)}:${actionOf(values)}`
    return quoted(`*${long}[${escaped(description)}]${value}`)
  })
  const places = command.arguments.map(({ name, values, isVariadic }, index) =>
    quoted(`${isVariadic ? '*' : index + 1}:${escaped(name)}:${actionOf(values)}`),
  )
  if (command.commands.length === 0)
    return `${nameOf(command)}() {
  _arguments ${[...options, ...places].join(' \\\n    ')}
}
`
  return `${nameOf(command)}() {
  local context state state_descr line
  typeset -A opt_args
  _arguments -C ${[...options, quoted('1: :->command'), quoted('*:: :->words')].join(' \\\n    ')}
  case $state in
    command)
      local -a commands
      commands=(
${command.commands.map(({ name, description }) => `        ${quoted(`${name}:${description}`)}`).join('\n')}
      )
      _describe command commands ;;
    words)
      case $line[1] in
${command.commands.map((each) => `        ${each.name}) ${nameOf(each)} ;;`).join('\n')}
      esac ;;
  esac
}
`
}

function nameOf({ path }: CommandWords): string {
  return ['_paydirt', ...path.split(' ').filter(Boolean)].join('_')
}

function actionOf(values: Values): string {
  if (values === 'file') return '_files'
  return values === 'any' ? ' ' : `(${values.join(' ')})`
}

/** Brackets and colons end a description. */
function escaped(text: string): string {
  return text.replaceAll(/[[\]:\\]/g, String.raw`\$&`)
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
