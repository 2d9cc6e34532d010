import type { Gathering, Waits } from '../../timing/coalesce.ts'
import type { Connected } from '../packed/ledger-adapter.ts'
import { isEmbedded } from './embedded.ts'
import { goesFirst } from './go-first.ts'

/**
 * On the embedded pair a statement takes the thread that everything else needs, a millisecond or two for any number of rows
 * that a group can have. A step is at work for a seventh of the time at most. Where requests are rare, a group takes some
 * milliseconds and the next one begins before the next request comes.
 */
const embeddedGathering: Gathering = { times: 6, mostMs: 150, quietMs: 5 }

/**
 * On servers the statements of a transaction cost this process as much for one lookup as for many. Half the wait gives most of what
 * there is, and an answer is stored sooner.
 */
const serverGathering: Gathering = { times: 4, mostMs: 75, quietMs: 5 }

/** The time for which many lookups are gathered that take a step at about the same time. */
export function gatheringOf(db: Connected): Gathering {
  return isEmbedded(db) ? embeddedGathering : serverGathering
}

/** The waits of a purchase’s steps for their groups: a press never waits. */
export function waitsOf(db: Connected): Waits {
  return { isUrgent: goesFirst, gathering: gatheringOf(db) }
}
