import type { Connector } from '../../connectors/connector.ts'
import { companyRow, type NamedCompany } from '../../domain/lists/company-row.ts'
import { ConfigError, describeError, PaydirtError } from '../../domain/errors.ts'
import type { StoredSignal } from '../../store/database/tables/match-tables.ts'
import { createMatches, type Match, type Matches } from '../../store/matches/matches.ts'
import { startPollLoop } from '../../timing/poll-loop.ts'
import {
  companyEntityOf,
  matchListName,
  matchListSettings,
  onMatchOf,
  withPlace,
} from '../config/watching/match-lists.ts'
import type { OnMatch } from '../config/watching/on-match.ts'
import type { Context } from '../context/context.ts'
import { newRunId } from '../context/new-id.ts'
import { assertMaking } from '../lists/making/may-make.ts'
import { makeReady } from '../runs/sync.ts'
import { workCompany } from './match-company.ts'
import { workNotes } from './match-notes.ts'
import { workPeople } from './match-people.ts'
import { MatchEnds, MatchWaits, type MatchWork } from './match-work.ts'

export interface WorkOptions {
  signal: AbortSignal
  connectorOf: (name: string) => Promise<Connector>
  onError?: ((error: unknown) => void) | undefined
}

/** A company that a delivery names, and the signals that it names it for. */
export interface MatchSource {
  company: NamedCompany
  signals?: readonly StoredSignal[] | undefined
}

export interface TakenMatch {
  /** The id of its run: `paydirt undo` of it takes all of it back. */
  id: string
  /** False: the company was worked within `oncePer`, or is being worked. */
  isNew: boolean
}

const leaseMs = 300_000
const renewMs = 60_000
const waitsMs = 900_000
const mostFailures = 8

/**
 * Stores what a declared monitor has matched, so that it is worked once in `oncePer`, also when it is named again in another spelling.
 * Buys and writes nothing. Undefined: the monitor declares nothing to do, or nothing but a name is known of the company.
 */
export async function takeMatch(
  context: Pick<Context, 'config' | 'database' | 'now' | 'randomBytes'>,
  monitor: string,
  { company, signals = [] }: MatchSource,
): Promise<TakenMatch | undefined> {
  const onMatch = onMatchOf(context.config, monitor)
  const row = onMatch && companyRow(company, { hosts: context.config.networkHosts })
  if (!onMatch || !row) return undefined
  return createMatches(context.database.db, context).take(
    { id: newRunId(context), monitor, company, identities: [...row.identities], signals: [...signals] },
    new Date(context.now().getTime() - onMatch.oncePer),
  )
}

/** Takes a match, and works it now. One that has to wait goes on with `workDueMatches`. */
export async function workMatch(
  context: Context,
  monitor: string,
  source: MatchSource,
  options: WorkOptions,
): Promise<Match | undefined> {
  const taken = await takeMatch(context, monitor, source)
  if (!taken) return undefined
  const matches = createMatches(context.database.db, context)
  for (const match of await matches.lease({ limit: 1, leaseMs, id: taken.id }))
    await workLeased(context, matches, match, options)
  return matches.get(taken.id)
}

/** Works matches that are due, one after the other, and returns how many. */
export async function workDueMatches(
  context: Context,
  { limit = 10, ...options }: WorkOptions & { limit?: number },
): Promise<number> {
  const matches = createMatches(context.database.db, context)
  let worked = 0
  while (worked < limit && !options.signal.aborted) {
    const [match] = await matches.lease({ limit: 1, leaseMs })
    if (!match) break
    await workLeased(context, matches, match, options)
    worked += 1
  }
  return worked
}

/**
 * Works one match: company, people, note and task. Company and people are lists of their own, of one row and of one question: so verdicts,
 * suppression, budgets, kill switch, parking, reservation, provenance and undo are those of lists, and not written a second time.
 *
 * Crash windows, beside those of each list and note:
 * - The match is stored, and its run is not opened: nothing was done. It is due again when its lease ends.
 * - The run is open, and no plan is noted: the company is judged again. Nothing was bought or written.
 * - A plan is noted and not made, or made by halves: it is deleted, and another one is made. A plan alone buys and writes nothing.
 * - A plan is made, or begun, or done, and its step has not ended: the same plan goes on, or is read as done. It makes each record once.
 * - The people's page is bought and no plan is made of it: the page is in the ledger and is not bought again while it is fresh.
 * - The note is written and its step has not ended: it is found by its marker, which is the match's.
 * - All steps are done and the match has not ended: each step finds its end, and the match ends.
 * - The match has ended and its run has not: nothing is due. The run is closed by the next call that finds it so.
 * Two processes: the lease is renewed while one is at work. One whose lease was lost all the same makes nothing twice, because records are
 * reserved, lookups are one each, and notes have one marker.
 */
async function workLeased(
  context: Context,
  matches: Matches,
  match: Match,
  { signal, connectorOf, onError }: WorkOptions,
): Promise<void> {
  const onMatch = onMatchOf(context.config, match.monitor)
  const closing = await context.runs.get(match.id)
  if (closing?.state === 'finished') return matches.end(match.id, 'worked', 'its steps were done before')
  if (!onMatch)
    return matches.end(match.id, 'left', `monitors.${match.monitor} declares nothing to do on a match`)
  const renewal = startPollLoop({
    name: 'renew the lease of a match',
    work: () => matches.renew(match.id, leaseMs),
    pauseMs: renewMs,
    onError: () => {},
  })
  const wait = async (state: 'waiting' | 'review', reason: string, ms = waitsMs): Promise<void> => {
    await renewal.stop()
    await matches.postpone(match.id, state, new Date(context.now().getTime() + ms), reason)
    if (await context.runs.get(match.id)) await context.runs.setState(match.id, 'parked')
  }
  const end = async (outcome: 'worked' | 'unknown' | 'left' | 'failed', reason: string): Promise<void> => {
    await renewal.stop()
    await matches.end(match.id, outcome, reason)
    if (await context.runs.get(match.id)) await context.runs.setState(match.id, 'finished')
  }
  try {
    await openMatchRun(context, match, onMatch)
    const connector = await makingConnector(context, match, onMatch, connectorOf)
    const work: MatchWork = { context, match, onMatch, connector, matches, signal }
    const found = await workCompany(work)
    const people = await workPeople(work, found)
    await workNotes(work, found.recordId, people)
    await end('worked', `record ${found.recordId}`)
  } catch (error) {
    if (error instanceof MatchEnds) return await end(error.outcome, error.message)
    if (error instanceof MatchWaits)
      return await wait(error.state, error.message, signal.aborted ? 0 : waitsMs)
    if (signal.aborted) return await wait('waiting', 'the process was stopped', 0)
    if (error instanceof PaydirtError) return await wait('waiting', inPlace(match, error.message))
    onError?.(error)
    if (match.tries >= mostFailures) return await end('failed', describeError(error))
    await wait('waiting', describeError(error), Math.min(waitsMs, 1_000 * 2 ** match.tries))
  } finally {
    await renewal.stop()
  }
}

/** Returns a message of a match's lists with the place of its own settings. */
function inPlace({ monitor }: Pick<Match, 'monitor'>, message: string): string {
  return withPlace(matchListName(monitor, 'people'), withPlace(matchListName(monitor, 'companies'), message))
}

async function openMatchRun(context: Context, { id, monitor }: Match, onMatch: OnMatch): Promise<void> {
  const { config, runs } = context
  await runs.open({
    id,
    connector: onMatch.connector,
    object: 'company',
    entity: companyEntityOf(onMatch),
    recipe: onMatch.recipe ?? config.defaultRecipe,
    trigger: 'monitor',
    fingerprint: `match|${id}`,
    source: { caller: 'monitor', match: monitor },
  })
}

/** Throws ConfigError where the CRM lacks an object or cannot take new records of it. */
async function makingConnector(
  { config }: Context,
  { monitor }: Match,
  onMatch: OnMatch,
  connectorOf: WorkOptions['connectorOf'],
): Promise<MatchWork['connector']> {
  const given = await connectorOf(onMatch.connector)
  const parts = (['companies', 'people'] as const).map((part) => matchListName(monitor, part))
  const lists = parts.flatMap((name) => {
    const settings = matchListSettings(config, name)
    return settings ? [{ name, settings }] : []
  })
  const [first] = lists.map(({ name, settings }) => assertMaking(given, settings, name))
  if (!first) throw new ConfigError('no_list', `monitors.${monitor} declares nothing to do on a match`)
  await makeReady(first, [...new Set(lists.map(({ settings }) => settings.into.entity))])
  return first
}
