import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CommanderError, type Command } from 'commander'
import { createProgram } from '../../src/cli/program.ts'

const root = join(import.meta.dirname, '../..')

/** A command line that the documentation or a help text tells a reader to type. */
export interface Example {
  /** The page or the command whose help has it. */
  from: string
  line: string
  /** Its words behind `paydirt`. */
  args: string[]
}

/** Returns the commands in the shell blocks of README and docs, and in the help of every command, each once. */
export function collectExamples(): Example[] {
  const seen = new Set<string>()
  return [...fromPages(), ...fromHelp()].filter(({ line }) => !seen.has(line) && seen.add(line))
}

function fromPages(): Example[] {
  return globSync(['README.md', 'docs/*.md', 'samples/*.md'], { cwd: root })
    .sort()
    .flatMap((page) => {
      const blocks = readFileSync(join(root, page), 'utf8').matchAll(
        /^( *)```(?:sh|bash|console)\n([\s\S]*?)^\1```/gm,
      )
      return [...blocks].flatMap(([, , text = '']) => linesOf(text)).flatMap((line) => exampleOf(page, line))
    })
}

function fromHelp(): Example[] {
  return everyCommand(createProgram()).flatMap((command) => {
    let help = ''
    command.configureOutput({ writeOut: (text) => (help += text) })
    command.outputHelp()
    const lines = linesOf(help).filter((line) => /^ {2,}paydirt /.test(line))
    return lines.flatMap((line) => exampleOf(`paydirt ${command.name()} --help`, line))
  })
}

function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)]
}

function linesOf(text: string): string[] {
  return text.replaceAll(/\\\n\s*/g, ' ').split('\n')
}

function exampleOf(from: string, text: string): Example[] {
  const line = text.trim().replace(/^\$ /, '')
  const command = /^(?:[A-Z_]+=\S+ )*(?:npx )?paydirt (.*)$/.exec(line)?.[1]
  if (command === undefined) return []
  const args = wordsOf(command)
  return [{ from, line: `paydirt ${args.join(' ')}`, args }]
}

/** Splits a line as a shell would: quotes, a comment, what goes into another program or a file. */
export function wordsOf(line: string): string[] {
  const words: string[] = []
  for (const [word] of line.matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)) {
    if (/^(#|\||>|<|&&)/.test(word)) break
    words.push(word.replaceAll(/'([^']*)'|"([^"]*)"/g, (_, single, double) => (single ?? double) as string))
  }
  return words
}

/** Returns what the command line says against these words; undefined when it takes them. Nothing is run. */
export async function refusalOf(args: readonly string[]): Promise<string | undefined> {
  const program = createProgram()
  for (const command of everyCommand(program)) {
    command.configureOutput({ writeOut: () => {}, writeErr: () => {}, outputError: () => {} })
    if (command !== program) command.action(() => {})
  }
  try {
    await program.parseAsync(args, { from: 'user' })
    return undefined
  } catch (error) {
    if (error instanceof CommanderError) return error.message
    throw error
  }
}

/** Returns the commands that an output names in backquotes, as hints. */
export function hintsIn(output: string): string[] {
  return [...output.matchAll(/`(?:npx )?paydirt ([a-z][^`]*)`/g)].map(([, call]) => call!)
}
