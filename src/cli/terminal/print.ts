import { printable } from '../../domain/values/printable.ts'
import { liveLine } from './live-line.ts'
import { painted } from './style.ts'

/** Writes results to standard output. Text from outside cannot write control sequences to the terminal. */
export function print(text: string): void {
  write(process.stdout, text)
}

/** Writes messages to standard error, which leaves standard output to results. */
export function printError(text: string): void {
  write(process.stderr, text)
}

function write(stream: NodeJS.WriteStream, text: string): void {
  liveLine.clear()
  stream.write(painted(printable(text), stream))
}
