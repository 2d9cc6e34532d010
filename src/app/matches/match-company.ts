import { companyRow } from '../../domain/lists/company-row.ts'
import type { StoredRow } from '../../domain/lists/list-row.ts'
import type { JudgedStoredRow } from '../lists/judging/judged-rows.ts'
import { judgeLive } from '../lists/judging/judge-live.ts'
import { withExclusions } from '../lists/exclusions/read-exclusions.ts'
import { withoutExcluded } from '../lists/exclusions/without-excluded.ts'
import { assertIndexed } from '../lists/making/may-make.ts'
import { givenCalls, listNamed, type ListCalls } from '../lists/pages/list-calls.ts'
import { companyEntityOf, matchListName } from '../config/watching/match-lists.ts'
import { recordOfDraft } from '../../store/matches/record-of-draft.ts'
import { applyStep, notedPlan, planStep } from './match-plans.ts'
import { MatchEnds, MatchWaits, stepPlaces, type MatchWork } from './match-work.ts'

/** The record of a match's company. */
export interface FoundCompany {
  recordId: string
  row: StoredRow
}

/**
 * Finds the record of the company, in the index and in the CRM as it is now, enriches it by the recipe, and makes it where it is missing
 * and that is wanted: all of it as the list of one row. Throws MatchEnds or MatchWaits where there is no record.
 */
export async function workCompany(work: MatchWork): Promise<FoundCompany> {
  const { context, match, onMatch, matches } = work
  const row = companyRow(match.company, { hosts: context.config.networkHosts })
  if (!row) throw new MatchEnds('left', 'nothing but a name is known of the company')
  const plan = (await notedPlan(work, 'company')) ?? (await planCompany(work, row))
  if (!plan || 'recordId' in plan) {
    const recordId = plan?.recordId ?? match.recordId
    if (recordId === null) throw new MatchEnds('left', 'its record is gone')
    await ended(work, recordId, 'unchanged', 'the company is in the CRM')
    return { recordId, row }
  }
  const applied = await applyStep(work, plan)
  const known = match.recordId ?? (await matches.get(match.id))?.recordId ?? null
  if (known !== null) {
    await ended(work, known, 'unchanged', `the company is in the CRM; run of its plan: ${applied.runId}`)
    return { recordId: known, row }
  }
  const made = await recordOfDraft(context.database.db, applied.runId, companyEntityOf(onMatch))
  if (!made || made.recordId === null) throw new MatchEnds('left', made?.reason ?? 'no record was made')
  await matches.noteRecord(match.id, made.recordId)
  const isNew = made.state === 'created' || made.state === 'archived'
  await ended(
    work,
    made.recordId,
    isNew ? 'written' : 'unchanged',
    isNew ? `the company was made by run ${applied.runId}` : 'the company is in the CRM',
  )
  return { recordId: made.recordId, row }
}

/** Returns the plan for the company, or its record where there is nothing to plan. */
async function planCompany(work: MatchWork, row: StoredRow) {
  const { match, onMatch, matches } = work
  const judged = await judge(work, row)
  const { verdict, reason } = judged
  if (verdict === 'possible' || verdict === 'ambiguous')
    throw new MatchWaits(
      `${reason}: \`paydirt lists review ${matchListName(match.monitor, 'companies')}\` asks which it is`,
      'review',
    )
  if (verdict === 'exists') {
    const [found] = judged.records
    if (!found) throw new MatchEnds('left', reason)
    // Before the plan: the records that it updates are not told apart afterwards.
    await matches.noteRecord(match.id, found.recordId)
    const plan =
      onMatch.recipe === undefined ? undefined : (await planStep(work, 'company', callsOf(work, row))).plan
    return plan ?? { recordId: found.recordId }
  }
  if (verdict !== 'new') throw new MatchEnds('left', `${verdict}: ${reason}`)
  if (!onMatch.create)
    throw new MatchEnds('unknown', 'no record of this company is in the CRM, and create is not set')
  const { plan } = await planStep(work, 'company', callsOf(work, row))
  if (plan) return plan
  throw new MatchEnds('left', 'the CRM needs more of a company than is known of it')
}

async function judge(
  { context, connector, match, signal }: MatchWork,
  row: StoredRow,
): Promise<JudgedStoredRow> {
  const name = matchListName(match.monitor, 'companies')
  const settings = listNamed(context.config, name)
  await assertIndexed(context, connector, settings)
  const { exclusions } = await withExclusions(context, { name, settings }, { signal })
  try {
    signal.throwIfAborted()
    const [judged] = await withoutExcluded(await judgeLive(context, connector, settings, [row]), exclusions)
    if (!judged) throw new RangeError('a row has no verdict')
    return judged
  } finally {
    await exclusions?.close()
  }
}

function callsOf({ context, match, onMatch }: MatchWork, row: StoredRow): ListCalls {
  const name = matchListName(match.monitor, 'companies')
  const settings = listNamed(context.config, name)
  return givenCalls({ name, settings, given: [row], makes: onMatch.create ?? false })
}

async function ended(
  { matches, match }: MatchWork,
  recordId: string,
  status: 'written' | 'unchanged',
  reason: string,
): Promise<void> {
  await matches.endStep(match.id, { ordinal: stepPlaces.company, recordId, status, reason })
}
