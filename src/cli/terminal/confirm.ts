import type { Readable, Writable } from 'node:stream'
import { liveLine } from './live-line.ts'

/** The streams of a question and its answer. Results stay on standard output. */
interface Terminal {
  input: Readable
  output: Writable
}

/** Returns the terminal of this process; undefined when nobody sits at one. */
export function ownTerminal(): Terminal | undefined {
  const { stdin: input, stderr: output } = process
  return input.isTTY && output.isTTY ? { input, output } : undefined
}

/** Asks a question whose answer is no unless it is yes. Returns false when the person gives up. */
export async function confirm(terminal: Terminal, message: string): Promise<boolean> {
  const prompts = await import('@clack/prompts')
  liveLine.end()
  return (await prompts.confirm({ ...terminal, message, initialValue: false })) === true
}
