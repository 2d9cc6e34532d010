import { printable } from '../../domain/values/printable.ts'
import { liveLine } from './live-line.ts'
import { inOwnWords } from './own-command.ts'
import { painted } from './style.ts'

let own = 'paydirt'

/** Says how this program is called where it was started. Commands that are named in messages are printed in that form. */
export function callItself(command: string): void {
  own = command
}

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
  stream.write(painted(printable(inOwnWords(text, own)), stream))
}
