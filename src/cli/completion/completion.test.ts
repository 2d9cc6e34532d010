import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { crmNames, crmOf } from '../../connectors/definitions.ts'
import { createProgram } from '../program.ts'
import { entityNames, shells, type Shell } from '../terminal/choices.ts'
import { bashScript } from './bash.ts'
import { everyCommand, wordsOf } from './command-words.ts'
import { fishScript } from './fish.ts'
import { zshScript } from './zsh.ts'

const program = wordsOf(createProgram())
const scripts = { bash: bashScript(program), zsh: zshScript(program), fish: fishScript(program) }

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'paydirt-completion-'))
  writeFileSync(join(folder, 'leads 2026.csv'), '')
  for (const shell of shells) writeFileSync(join(folder, `_paydirt.${shell}`), scripts[shell])
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Asks a shell what completes each of these lines, in one process. The last word of a line is the one being typed. */
const ask: Record<Shell, (lines: readonly string[]) => string> = {
  bash: (lines) => `
    source ./_paydirt.bash
    ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _paydirt; printf '%s\\n' "\${COMPREPLY[@]}" ---; }
    ${lines.map((line) => `ask paydirt ${line.split(' ').map(quoted).join(' ')}`).join('\n')}`,
  // Its completion needs a line editor: the lines are typed into a terminal, and each match is printed.
  zsh: (lines) => `
    zmodload zsh/zpty
    zpty shell zsh -f -i
    zpty -w shell ${quoted(`
      PROMPT=; unsetopt beep; autoload -Uz compinit; compinit -u -D; source ./_paydirt.zsh
      compadd() {
        local -a found; builtin compadd -O found "$@"
        (( $#found )) && print -rl -- match:$^found
        builtin compadd "$@"
      }
      answered() { print; print -r -- END-OF-LINE; zle kill-buffer }; zle -N answered; bindkey "^X" answered
      bindkey "^I" complete-word
      print REA""DY`)}
    until [[ $line = *READY* ]]; do zpty -r shell line; done
    ask() {
      zpty -w -n shell "paydirt $1"$'\\t\\C-X'
      while zpty -r shell line; do
        line=\${line%$'\\r\\n'}
        [[ $line = *END-OF-LINE* ]] && break
        [[ $line = *match:* ]] && print -r -- \${line##*match:}
      done
      print -- ---
    }
    ${lines.map((line) => `ask ${quoted(line)}`).join('\n')}`,
  fish: (lines) => `
    source ./_paydirt.fish
    ${lines.map((line) => `complete -C ${quoted(`paydirt ${line}`)} | string replace -r '\\t.*' ''; echo ---`).join('\n')}`,
}

function completions(shell: Shell, lines: readonly string[]): string[][] {
  const withoutFiles = { bash: ['--norc', '-c'], zsh: ['-f', '-c'], fish: ['--no-config', '-c'] }[shell]
  const { stdout, stderr, status } = spawnSync(shell, [...withoutFiles, ask[shell](lines)], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: folder, TERM: 'xterm', LANG: 'C.UTF-8' },
  })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  // A name with a blank is named twice by some, as it is and as it is typed.
  const answers = stdout.replaceAll('\\', '').split('---\n').slice(0, -1)
  return answers.map((answer) => [...new Set(answer.split('\n').filter(Boolean))].sort())
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

const isAbsent = (shell: Shell) => spawnSync(shell, ['--version']).status !== 0

describe.each(shells.map((shell): [Shell] => [shell]))('%s completes', (shell) => {
  test.skipIf(isAbsent(shell))('commands, options, and values of both', () => {
    const lines: [string, string[]][] = [
      ['rec', ['reconcile']],
      ['rep', ['report']],
      ['token ', ['create', 'list', 'revoke']],
      ['wallet balance --', ['--help', '--json']],
      ['sync ', [...crmNames]],
      ['sync --recipe ', ['contact', 'full', 'profile']],
      ['sync --recipe full sales', ['salesforce']],
      ['sync hubspot --object com', ['companies', 'company']],
      ['enrich salesforce Le', ['Lead']],
      ['start --role w', ['web', 'worker']],
      ['reconcile --as ', ['declined', 'lost', 'settled']],
      ['completion z', ['zsh']],
    ]
    expect(
      completions(
        shell,
        lines.map(([line]) => line),
      ),
    ).toEqual(lines.map(([, words]) => words))
  })

  test.skipIf(isAbsent(shell))(
    'the names of files where a file is meant, and nothing where anything is',
    () => {
      const [input, out, id] = completions(shell, ['csv lea', 'csv in.csv --out lea', 'runs '])
      for (const files of [input, out]) expect(files).toEqual(['leads 2026.csv'])
      expect(id).toEqual([])
    },
  )
})

test.skipIf(isAbsent('bash'))('bash knows every command with all its options, and for which program', () => {
  const commands = everyCommand(program)
  const known = completions(
    'bash',
    commands.map(({ path }) => `${path} --`.trim()),
  )
  expect(known).toEqual(commands.map(({ options }) => options.map(({ long }) => long).sort()))
  const { stdout } = spawnSync('bash', ['--norc', '-c', 'source ./_paydirt.bash; complete -p paydirt'], {
    cwd: folder,
    encoding: 'utf8',
  })
  expect(stdout).toBe('complete -F _paydirt paydirt\n')
})

test('bash takes an option and its value in one word too', () => {
  const line = ['sync', '--recipe', '=', 'f'].join(' ')
  expect(completions('bash', [line])).toEqual([['full']])
})

test('the names of objects are those of the mappings', () => {
  expect(entityNames).toEqual(crmNames.flatMap((name) => Object.keys(crmOf(name).entities)))
})
