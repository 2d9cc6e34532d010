import { expect, test } from 'vitest'
import type { ChargeState } from '../../../domain/payment.ts'
import { taskStatuses } from '../../../domain/words.ts'
import type {
  FieldWriteState,
  LookupState,
  OccurrenceState,
  RunState,
} from '../../../store/database/tables/states.ts'
import { stateText } from './state-words.ts'

/** Named one by one, so that the type checker asks for a new one. */
const runs: Record<RunState, true> = {
  planned: true,
  scanning: true,
  working: true,
  stopped: true,
  parked: true,
  finished: true,
  failed: true,
}
const lookups: Record<LookupState, true> = { waiting: true, parked: true, answered: true, failed: true }
const charges: Record<ChargeState, true> = {
  journaled: true,
  sent: true,
  settled: true,
  declined: true,
  in_doubt: true,
  lost: true,
  expired: true,
}
const writes: Record<FieldWriteState, true> = {
  intended: true,
  written: true,
  undone: true,
  superseded: true,
  rejected: true,
}
const occurrences: Record<OccurrenceState, true> = {
  due: true,
  scanning: true,
  handed_over: true,
  stopped: true,
  missed: true,
  failed: true,
}

/** The ledger's own names for how work moves. */
const internal = /_|scanning|working|queued|looking|ready|journal|superseded|intended|handed|declined|expired/

test.each([
  ...taskStatuses,
  ...[runs, lookups, charges, writes, occurrences].flatMap((states) => Object.keys(states)),
])('the state %s of the ledger has a word that people use', (state) => {
  expect(stateText(state)).not.toMatch(internal)
})

test('a state that is not known keeps its name, as words', () => {
  expect(stateText('quite_new')).toBe('quite new')
  expect(stateText('constructor')).toBe('constructor')
})
