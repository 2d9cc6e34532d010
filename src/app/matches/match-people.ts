import { counted } from '../../domain/values/counted.ts'
import { matchListName } from '../config/watching/match-lists.ts'
import type { Plan } from '../../store/plans/plans.ts'
import type { ListPlan } from '../lists/making/plan-list.ts'
import { fetchList } from '../lists/pages/fetch-list.ts'
import { listNamed, peopleAtCompany } from '../lists/pages/list-calls.ts'
import { applyStep, notedPlan, planStep, type AppliedStep } from './match-plans.ts'
import type { FoundCompany } from './match-company.ts'
import { MatchWaits, stepPlaces, type MatchWork } from './match-work.ts'

/** The caps of the monitor and of the settings hold, and none of one match. */
const noBudget = 2n ** 62n

/**
 * Searches for people at the company by one question, and makes records of those who are new, with what the recipe buys for them: the list
 * of people at one company. Suppressed people are dropped before anything is bought for them.
 */
export async function workPeople(
  work: MatchWork,
  { recordId, row }: FoundCompany,
): Promise<AppliedStep | undefined> {
  const { context, match, onMatch, signal } = work
  if (!onMatch.people) return undefined
  const noted = await notedPlan(work, 'people')
  if (noted) return ended(work, recordId, noted, await applyStep(work, noted))
  const name = matchListName(match.monitor, 'people')
  const settings = listNamed(context.config, name)
  const { identity, identities, values } = row
  const { serviceId } = match.company
  const company = { key: row.serviceId ?? match.id, identity, identities, values, serviceId }
  const calls = await peopleAtCompany(context, { name, settings, company }, { asks: true, reads: signal })
  if (!calls) {
    await skipped(
      work,
      recordId,
      'neither its domain nor its id at the service is known: nobody can be searched for there',
    )
    return undefined
  }
  const { end, reason = end } = await fetchList(context, calls, {
    budgetAtomic: noBudget,
    reachableOnly: true,
    signal,
  })
  if (end === 'failed' || end === 'unusable') {
    await skipped(work, recordId, `the search for people: ${reason}`)
    return undefined
  }
  if (end !== 'complete') throw new MatchWaits(`the search for people: ${reason}`)
  const { plan, verdicts } = await planStep(work, 'people', calls)
  if (plan) return ended(work, recordId, plan, await applyStep(work, plan))
  await skipped(work, recordId, `nobody new was found there${unclearText(verdicts)}`)
  return undefined
}

async function ended(
  { matches, match }: MatchWork,
  recordId: string,
  plan: Plan,
  applied: AppliedStep,
): Promise<AppliedStep> {
  const { created, exists, left, runId } = applied
  await matches.endStep(match.id, {
    ordinal: stepPlaces.people,
    recordId,
    status: created > 0 ? 'written' : 'unchanged',
    reason: `${counted(created, 'person', 'people')} made by run ${runId}, ${exists} in the CRM before, ${left} left out${unclearText(plan.document['verdicts'] as ListPlan['verdicts'])}`,
  })
  return applied
}

/** Returns the number of people who may be in the CRM: in doubt no record is made of them. */
function unclearText({ possible = 0, ambiguous = 0 }: ListPlan['verdicts']): string {
  const unclear = possible + ambiguous
  return unclear > 0 ? `, and ${unclear} who may be in the CRM (same name, or several records)` : ''
}

async function skipped({ matches, match }: MatchWork, recordId: string, reason: string): Promise<void> {
  await matches.endStep(match.id, { ordinal: stepPlaces.people, recordId, status: 'skipped', reason })
}
