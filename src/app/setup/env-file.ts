import { parseEnv } from 'node:util'
import { ConfigError } from '../../domain/errors.ts'

/** A line of `.env`: a variable with its value, or one that is offered in a comment. */
export interface EnvLine {
  name: string
  /** Says what it is, above the line. */
  means?: string | undefined
  /** Undefined: left out, with `offered` in a comment. */
  value: string | undefined
  offered?: string | undefined
}

const head = `# Addresses, secrets and caps of Paydirt. Nobody but you may read this file: keep it out of version control.
# docs/configuration.md lists every variable. One that is set in the shell wins over the one here.
`

/**
 * Returns the text of a `.env` that is read back as it was meant. Throws ConfigError naming a variable whose value no such
 * file can hold.
 */
export function envText(lines: readonly EnvLine[]): string {
  const text = [head, ...lines.map(lineText)].join('\n')
  const read = parseEnv(text)
  const wrong = lines.find(({ name, value }) => value !== undefined && read[name] !== value)
  if (wrong === undefined) return text
  throw new ConfigError('bad_environment', `${wrong.name} has a value that a .env file cannot hold`)
}

/** Returns the variables of an existing `.env`. */
export function readEnvText(text: string): Record<string, string> {
  return Object.fromEntries(
    Object.entries(parseEnv(text)).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}

function lineText({ name, means, value, offered }: EnvLine): string {
  const comment = means === undefined ? '' : `# ${means}\n`
  return value === undefined
    ? `${comment}# ${name}=${quoted(offered ?? '')}\n`
    : `${comment}${name}=${quoted(value)}\n`
}

/**
 * Single quotes keep everything but themselves in every reader of such files. Double quotes expand `$` and backslashes in
 * some, and backquotes are Node's alone.
 */
function quoted(value: string): string {
  if (/^[\w.:/@+,=?&%-]*$/.test(value)) return value
  if (!value.includes("'")) return `'${value}'`
  if (!/["\\$]/.test(value)) return `"${value}"`
  const quote = value.includes('`') ? '"' : '`'
  return `${quote}${value}${quote}`
}
