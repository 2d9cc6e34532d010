import { printable } from '../../domain/values/printable.ts'

/** Writes results to standard output. Text from outside cannot write control sequences to the terminal. */
export function print(text: string): void {
  process.stdout.write(printable(text))
}

/** Writes messages to standard error, which leaves standard output to results. */
export function printError(text: string): void {
  process.stderr.write(printable(text))
}
