import type { Operation } from '../../src/domain/words.ts'

/** The points that an action and each of its readings pass. */
export const actionPoints = [
  'before the charge',
  'after the charge',
  'before the charge is sent',
  'before the send',
  'body sent',
  'after the answer',
  'before the answer is stored',
  'after the answer is stored',
  'before the doubt',
  'after the doubt',
] as const
export type ActionPoint = (typeof actionPoints)[number]

/** Kills at the nth passing of a point; `time`: after so many milliseconds. */
export interface ActionKill {
  point: ActionPoint | 'time'
  nth: number
}

/** The points between the request for a new monitor and the note of its id in the ledger. */
export const applyPoints = ['monitor asked for', 'before the note', 'within the note'] as const

/** Has the monitors of the settings applied by a process. */
export interface ApplyOrder {
  env: Record<string, string>
  file: Record<string, unknown>
  settleMs: number
  replace: boolean
  kill?: ActionKill | { point: (typeof applyPoints)[number]; nth: number } | undefined
}

/** The order for a process, passed as JSON in its one argument. */
export interface ActionOrder {
  env: Record<string, string>
  file: Record<string, unknown>
  operation: Operation
  body: Record<string, unknown>
  settleMs: number
  kill?: ActionKill | undefined
}
