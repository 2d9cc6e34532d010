import { words } from './format.ts'

/**
 * The desk's words for the states of the ledger; docs/architecture.md lists the words. A state that is not here is a plain
 * word already.
 */
const stateWords: Readonly<Record<string, string>> = {
  // Runs
  scanning: 'reading',
  working: 'active',
  // Tasks
  queued: 'waiting',
  looking_up: 'active',
  ready: 'writing',
  // Lookups and charges
  not_found: 'not found',
  journaled: 'reserved',
  in_doubt: 'in doubt',
  declined: 'not charged',
  expired: 'not charged',
  // Field writes and occurrences
  intended: 'writing',
  superseded: 'replaced',
  due: 'waiting',
  handed_over: 'active',
}

/** Returns the word for a state. */
export function stateText(state: string): string {
  return Object.hasOwn(stateWords, state) ? (stateWords[state] ?? state) : words(state)
}
