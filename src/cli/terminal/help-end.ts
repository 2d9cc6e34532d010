import { bold } from './style.ts'

interface HelpEnd {
  /** Each runs as it stands, in test/integration/examples.test.ts. */
  examples: readonly string[]
  /** Paragraphs behind the examples. */
  notes?: readonly string[]
  /** The meaning of exit statuses, where they mean more than in every command. Absent: a group of commands. */
  statuses?: Readonly<Partial<Record<number, string>>>
}

const everywhere: Readonly<Record<number, string>> = {
  0: 'done',
  1: 'failed',
  2: 'wrong use or configuration',
  130: 'stopped by Ctrl-C',
}

/** Returns the end of a command's help: examples, what is good to know, and the exit statuses. */
export function helpEnd({ examples, notes = [], statuses }: HelpEnd): string {
  const parts = [`${bold('Examples:')}\n${examples.map((example) => `  ${example}`).join('\n')}`, ...notes]
  if (statuses) {
    const meanings = Object.entries({ ...everywhere, ...statuses })
    const lines = meanings.map(([status, meaning]) => `  ${status.padEnd(3)}  ${meaning}`)
    parts.push(`${bold('Exit status:')}\n${lines.join('\n')}`)
  }
  return `\n${parts.join('\n\n')}`
}

/** The statuses of a command that works through records. */
export const runStatuses = {
  0: 'every record is final',
  3: 'work is parked (a cap, an empty wallet)',
  130: 'stopped by Ctrl-C; the same command continues',
} as const
