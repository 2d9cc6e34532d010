import type { Gathering } from '../../timing/coalesce.ts'
import { isEmbedded } from './embedded.ts'
import { goesFirst } from './go-first.ts'
import type { Connected } from '../packed/ledger-adapter.ts'

/**
 * On the embedded pair a statement takes the thread that everything else needs, a millisecond or two for any number of rows
 * that a group can have. A step is at work for a seventh of the time at most. Where requests are rare, a group takes some
 * milliseconds and the next one begins before the next request comes.
 */
const embeddedGathering: Gathering = { times: 6, mostMs: 150, quietMs: 5 }

/** The waits of a purchase’s steps for their groups: a press never waits. */
export function waitsOf(db: Connected): { isUrgent: () => boolean; gathering?: Gathering } {
  return { isUrgent: goesFirst, ...(isEmbedded(db) ? { gathering: embeddedGathering } : {}) }
}
