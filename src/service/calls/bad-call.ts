import { InputError } from '../../domain/errors.ts'
import { nearNames } from '../../domain/normalise/near-names.ts'
import type { Operation } from '../../domain/words.ts'

/** Returns the error of a call that is not sent, in one line that begins with its place. */
export function badCall(operation: Operation, problem: string): InputError {
  return new InputError('bad_call', `${operation}: ${problem}`)
}

/** Returns a value for a message: on one line, and never so long that the rest cannot be read. */
export function quoted(value: string): string {
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 59)}…` : value)
}

/** Returns the names that were probably meant, for the end of a message; '' where none is near. */
export function near(name: string, known: readonly string[]): string {
  // A word that an answer has taught may hold anything.
  const names = nearNames(name, known).map((each) => (/^[^\p{Cc}]{1,60}$/u.test(each) ? each : quoted(each)))
  return names.length > 0 ? ` (near: ${names.join(', ')})` : ''
}
