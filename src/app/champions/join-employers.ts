import type { Connector } from '../../connectors/connector.ts'
import { ConfigError } from '../../domain/errors.ts'
import { championFieldNames } from '../../domain/fields.ts'
import { companyDomainOf } from '../../domain/normalise/email.ts'
import type { Atomic } from '../../domain/money.ts'
import {
  draftsWithKeys,
  saveJoined,
  type Joined,
  type UnclearJoin,
  type KnownChampion,
} from '../../store/champions/joins.ts'
import { createListPlans } from '../../store/lists/list-plans.ts'
import { createPlanLedger, type Plan } from '../../store/plans/plans.ts'
import { withPlace } from '../config/watching/match-lists.ts'
import { championPurse } from '../config/watching/purses.ts'
import type { Context } from '../context/context.ts'
import { newPlanId } from '../context/new-id.ts'
import { judgeLive } from '../lists/judging/judge-live.ts'
import { applyList, type AppliedList } from '../lists/making/apply-list.ts'
import { assertMaking } from '../lists/making/may-make.ts'
import { planList } from '../lists/making/plan-list.ts'
import { givenCalls, listNamed } from '../lists/pages/list-calls.ts'
import { runRefusals, unfinishedPlan } from '../lists/running/run-list.ts'
import { makeReady } from '../runs/sync.ts'
import { writableFields } from '../writing/writable-fields.ts'
import type { Candidate } from './candidates.ts'
import { joiningRows, type Joiner } from './joining-rows.ts'

/** The records at new employers, as a run leaves them. */
export interface JoinedEmployers {
  /** Records that this run has made, and people who had one there. */
  made: number
  there: number
  /** Those who may have one (the same name, or several records): `paydirt lists review` asks which it is. */
  unclear: number
  /** Those of whom none was made, and why, by the words of lists. */
  left: Record<string, number>
  /** The runs that made records: their undo takes them back, with their companies. */
  runIds: string[]
  /** Rows that wait for a budget, a cap or the CRM: the next run goes on. */
  waiting: string | undefined
}

const joiningFields = championFieldNames.filter((name) => name !== 'left_company_at')

interface JoinOptions {
  connector: Connector
  identities: ReadonlyMap<string, Pick<Candidate, 'identity'>>
  /** The part of the run's budget that is left. */
  budgetAtomic: Atomic
  signal: AbortSignal
  onNotice?: ((text: string) => void) | undefined
}

/** Returns why no record could be made now. Asks the CRM alone, before anything is bought. */
export async function joinRefusals(
  context: Context,
  watch: string,
  connector: Connector,
): Promise<ConfigError[]> {
  const name = championPurse(watch).budget
  const refusals = await runRefusals(context, { name, settings: listNamed(context.config, name) }, connector)
  return refusals.map(({ code, message }) => new ConfigError(code, withPlace(name, message)))
}

/**
 * Finds or makes the records of those who have moved, at their new employers, as a list whose rows are given. Verdicts, suppression,
 * companies, budgets, kill switch, reservation, provenance and undo are those of lists. The record of before has the same profile, so it is
 * left out of the verdict, and the new one is reserved and keyed as this person at this employer.
 *
 * Crash windows, beside those of lists (src/store/lists/list-plans.ts, src/store/lists/created-records.ts):
 * - A record was there, and that is not noted: it is judged again, for nothing.
 * - A plan is claimed, begun or done, and its records are not noted here: the next run goes on with the plan, and then finds the records by
 *   their keys.
 * - Records are noted, and their notes are not written: notes are known by their markers.
 */
export async function joinEmployers(
  context: Context,
  watch: string,
  champions: readonly KnownChampion[],
  { connector, identities, budgetAtomic, signal, onNotice }: JoinOptions,
): Promise<JoinedEmployers> {
  const name = championPurse(watch).budget
  const settings = listNamed(context.config, name)
  const making = assertMaking(connector, settings, name)
  const { entity } = settings.into
  const { db } = context.database
  const object = { watch, connector: connector.name, entity }
  const outcome = noneJoined()
  const apply = async (plan: Plan): Promise<void> => {
    const applied = await applyList(context, plan, { connector, signal, mostAtomic: budgetAtomic, onNotice })
    noteRun(outcome, applied)
  }
  const leave = (reason: string) => void (outcome.left[reason] = (outcome.left[reason] ?? 0) + 1)
  /** Notes those whose records the ledger knows by now, and returns the others. */
  const settle = async (joiners: readonly Joiner[]): Promise<Joiner[]> => {
    const drafts = await draftsWithKeys(
      db,
      { list: name, connector: connector.name, entity },
      joiners.map(({ key }) => key),
    )
    const joined = new Map<string, Joined>()
    const records = { made: new Set<string>(), there: new Set<string>() }
    const others = joiners.filter(({ champion: { recordId }, key }) => {
      const draft = drafts.get(key)
      if (!draft) return true
      joined.set(recordId, draft)
      records[draft.state].add(draft.recordId)
      return false
    })
    await saveJoined(db, object, joined)
    outcome.made += records.made.size
    outcome.there += records.there.size
    return others
  }

  const begun = await unfinishedPlan(context, { name, settings })
  if (begun) await apply(begun)
  let open = await settle(joiningRows(context.config, watch, champions, identities))
  if (open.length === 0 || outcome.waiting !== undefined || signal.aborted) return outcome
  await makeReady(making, [entity])
  const { notice } = await writableFields(connector, entity, joiningFields)
  if (notice !== undefined) onNotice?.(notice)
  const judged = await judgeLive(
    context,
    making,
    settings,
    open.map(({ row }) => row),
  )
  const mailed = await mailedThere(
    making,
    entity,
    judged.map(({ verdict, records }, at) => ({
      ids:
        verdict === 'possible'
          ? records.filter((each) => each.entity === entity).map((each) => each.recordId)
          : [],
      domain: open[at]?.champion.employer?.domain ?? undefined,
    })),
  )
  const there = new Map<string, Joined | UnclearJoin>()
  const fresh: Joiner[] = []
  judged.forEach(({ verdict, records, reason }, at) => {
    const joiner = open[at]!
    // A lead of the person is named in the reason alone.
    const record = records.find((each) => each.entity === entity)
    const recordId = verdict === 'exists' ? record?.recordId : mailed[at]
    if (recordId !== undefined) there.set(joiner.champion.recordId, { state: 'there', recordId })
    else if (verdict === 'possible' || verdict === 'ambiguous') {
      there.set(joiner.champion.recordId, { state: 'unclear', row: joiner.row })
      outcome.unclear += 1
    }
    // Another record of the person here has made it a repeat: it is one record.
    else if (verdict === 'new' || verdict === 'duplicate') fresh.push(joiner)
    else leave(`${verdict}: ${reason}`)
  })
  await saveJoined(db, object, there)
  outcome.there += [...there.values()].filter(({ state }) => state === 'there').length
  if (fresh.length === 0) return outcome
  const calls = givenCalls({ name, settings, given: fresh.map(({ row }) => row), makes: true })
  const planned = await planList(context, calls, connector, newPlanId(context), { signal })
  const plans = createPlanLedger(db, context)
  if (planned.creates === 0) {
    await plans.drop(planned.planId)
    leave('the CRM needs more of a person than is known')
    return outcome
  }
  const [refused] = planned.refusals
  if (refused !== undefined) {
    await plans.drop(planned.planId)
    return { ...outcome, waiting: refused }
  }
  const plan = await plans.get(await createListPlans(db).claim(name, planned.planId))
  if (plan) await apply(plan)
  open = await settle(fresh)
  if (outcome.waiting === undefined && open.length > 0)
    for (const _ of open) leave('the CRM did not take the record (`paydirt runs RUN`)')
  return outcome
}

/**
 * Returns, of each person, the one record of the same name that has a work address at the new employer. Undefined: there is none, or
 * there are several.
 */
async function mailedThere(
  connector: Pick<Connector, 'read'>,
  entity: string,
  people: readonly { ids: readonly string[]; domain: string | undefined }[],
): Promise<(string | undefined)[]> {
  const ids = [...new Set(people.flatMap((each) => each.ids))]
  if (ids.length === 0) return people.map(() => undefined)
  const read = await connector.read(entity, ids)
  const domainOf = (id: string) => {
    const record = read.get(id)
    const email = record?.state === 'present' ? record.values['email'] : undefined
    return typeof email === 'string' ? companyDomainOf(email) : undefined
  }
  return people.map(({ ids: own, domain }) => {
    const [found, ...more] = own.filter((id) => domain !== undefined && domainOf(id) === domain)
    return more.length === 0 ? found : undefined
  })
}

/** Returns the outcome of a run that has made none yet. */
export function noneJoined(waiting?: string): JoinedEmployers {
  return { made: 0, there: 0, unclear: 0, left: {}, runIds: [], waiting }
}

function noteRun(outcome: JoinedEmployers, { runId, created, end, reason }: AppliedList): void {
  if (created > 0) outcome.runIds.push(runId)
  if (end !== 'finished') outcome.waiting = reason ?? end
}
