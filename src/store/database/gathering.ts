import type { Gathering, Waits } from '../../timing/coalesce.ts'
import { goesFirst } from './go-first.ts'

/**
 * A step of many lookups costs hardly more than that of one: the thread that everything else needs on the embedded pair, and on
 * servers the statements of a transaction. A step is at work for a seventh of the time at most. Where requests are rare, a group
 * takes some milliseconds and the next one begins before the next request comes.
 */
export const stepGathering: Gathering = { times: 6, mostMs: 150, quietMs: 5 }

/** The waits of a purchase’s steps for their groups: a press never waits. */
export const stepWaits: Waits = { isUrgent: goesFirst, gathering: stepGathering }
