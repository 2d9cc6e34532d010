import { everyCommand, type CommandWords, type Values } from './command-words.ts'

/** Returns a script for fish 3 and later. */
export function fishScript(program: CommandWords): string {
  return `# Completion of paydirt for fish. Load it with: paydirt completion fish | source

# The words behind the program that are neither options nor their values, nor being typed.
function __paydirt_words
    set -l words (commandline -opc)
    set -l isValue 0
    for word in $words[2..-1]
        if test $isValue -eq 1
            set isValue 0
        else if string match --quiet -- '-*' $word
            contains -- $word ${optionsWithValue(program).join(' ')}; and set isValue 1
        else
            echo $word
        end
    end
end

# Succeeds behind this command and, with a number, in that place behind it; with N+, there and further on.
function __paydirt_at
    set -l path (string split ' ' -- $argv[1])
    test -z "$argv[1]"; and set path
    set -l words (__paydirt_words)
    test (count $words) -ge (count $path); or return 1
    for index in (seq (count $path))
        test "$words[$index]" = "$path[$index]"; or return 1
    end
    test (count $argv) -eq 1; and return 0
    set -l place (math (count $words) - (count $path) + 1)
    if string match --quiet -- '*+' $argv[2]
        test $place -ge (string trim --right --chars=+ -- $argv[2])
    else
        test $place -eq $argv[2]
    end
end

complete -c paydirt -f
${everyCommand(program).flatMap(linesOf).join('\n')}
`
}

function linesOf({ path, commands, options, arguments: given }: CommandWords): string[] {
  const at = (place?: string) =>
    `-n ${quoted(`__paydirt_at ${quotedWithin(path)}${place === undefined ? '' : ` ${place}`}`)}`
  // Behind a command with commands, its own options end at the next word.
  const own = commands.length > 0 ? at('1') : at()
  return [
    ...commands.map(
      ({ name, description }) => `complete -c paydirt ${at('1')} -a ${name} -d ${quoted(description)}`,
    ),
    ...options.map(
      ({ long, description, values }) =>
        `complete -c paydirt ${own} -l ${long.slice(2)}${values === undefined ? '' : ` ${valuesOf(values, '-x')}`} -d ${quoted(description)}`,
    ),
    ...given
      .map(({ values, isVariadic }, index) => ({ values, place: `${index + 1}${isVariadic ? '+' : ''}` }))
      .filter(({ values }) => values !== 'any')
      .map(({ values, place }) => `complete -c paydirt ${at(place)} ${valuesOf(values, '')}`.trimEnd()),
  ]
}

/** Options that are followed by a value in every command that has them. */
function optionsWithValue(program: CommandWords): string[] {
  const all = everyCommand(program).flatMap(({ options }) => options)
  const flags = new Set(all.filter(({ values }) => values === undefined).map(({ long }) => long))
  return [...new Set(all.map(({ long }) => long))].filter((long) => !flags.has(long))
}

function valuesOf(values: Values, closed: string): string {
  if (values === 'file') return closed === '' ? '-F' : '-r -F'
  if (values === 'any') return '-x'
  return `${closed} -a ${quoted(values.join(' '))}`.trim()
}

function quoted(text: string): string {
  return `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`
}

/** Inside a quoted condition. */
function quotedWithin(text: string): string {
  return `"${text}"`
}
