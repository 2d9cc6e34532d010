import type { Match, Matches } from '../../store/matches/matches.ts'
import type { OnMatch } from '../config/watching/on-match.ts'
import type { Context } from '../context/context.ts'
import type { MakingConnector } from '../lists/making/fit-row.ts'

/** A match that is worked now, and what its steps need. */
export interface MatchWork {
  context: Context
  match: Match
  onMatch: OnMatch
  connector: MakingConnector
  matches: Matches
  signal: AbortSignal
}

/** Thrown where a match goes on later: a cap is reached, the CRM is away, or a person has to answer. */
export class MatchWaits extends Error {
  readonly state: 'waiting' | 'review'

  constructor(reason: string, state: 'waiting' | 'review' = 'waiting') {
    super(reason)
    this.state = state
  }
}

/** Thrown where nothing more is done for the company of a match. */
export class MatchEnds extends Error {
  readonly outcome: 'unknown' | 'left'

  constructor(outcome: 'unknown' | 'left', reason: string) {
    super(reason)
    this.outcome = outcome
  }
}

/** The steps of a match, as tasks of its run. */
export const stepPlaces = { company: 1, people: 2, note: 3, task: 4 } as const
