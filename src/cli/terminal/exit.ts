import type { RunEnd } from '../../app/runs/run-to-end.ts'
import {
  BudgetExhaustedError,
  ConfigError,
  InputError,
  PaydirtError,
  describeError,
} from '../../domain/errors.ts'
import { isAway } from '../../store/database/retry-while-away.ts'
import { printError } from './print.ts'
import { bad } from './style.ts'

/** The exit statuses that scripts rely on. 130 is the shell's own for an interrupt. */
export const exitStatus = { done: 0, failed: 1, usage: 2, parked: 3, interrupted: 130 } as const

/** The exit status of a run, by its end. */
export const statusOfEnd: Readonly<Record<RunEnd, number>> = {
  finished: exitStatus.done,
  parked: exitStatus.parked,
  interrupted: exitStatus.interrupted,
}

/** Prints an error as one line for a person. Returns the exit status of its class. */
export function reportError(error: unknown): number {
  if (error instanceof PaydirtError) {
    printError(`${bad('paydirt:')} ${error.message}\n`)
    if (error instanceof BudgetExhaustedError) return exitStatus.parked
    return error instanceof ConfigError || error instanceof InputError ? exitStatus.usage : exitStatus.failed
  }
  const what = isAway(error)
    ? 'the connection to Postgres or Redis was lost; nothing that was paid for is lost, so run the same command again when it is back'
    : 'unexpected error'
  printError(`${bad('paydirt:')} ${what}: ${describeError(error)}\n`)
  if (process.env['PAYDIRT_LOG_LEVEL'] === 'debug' && error instanceof Error) printError(`${error.stack}\n`)
  return exitStatus.failed
}
