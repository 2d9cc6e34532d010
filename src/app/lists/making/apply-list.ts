import type { Connector } from '../../../connectors/connector.ts'
import { ConfigError } from '../../../domain/errors.ts'
import type { Atomic } from '../../../domain/money.ts'
import { firstCompanyPlace } from '../../../domain/lists/company-of-person.ts'
import { createCreatedRecords, type CreatedRecords } from '../../../store/lists/created-records.ts'
import { createPlannedRows, type PlannedRow } from '../../../store/lists/planned-rows.ts'
import { createPlanLedger, type Plan } from '../../../store/plans/plans.ts'
import type { CreatedState } from '../../../store/database/tables/states.ts'
import type { ListSettings } from '../../config/lists.ts'
import type { Context } from '../../context/context.ts'
import { newRunId } from '../../context/new-id.ts'
import type { Progress } from '../../runs/run-progress.ts'
import type { RunSummary } from '../../runs/summary.ts'
import { makeReady } from '../../runs/sync.ts'
import { startPollLoop } from '../../../timing/poll-loop.ts'
import { lookUpRows, waitsText, type ListLookups } from '../enriching/look-up-rows.ts'
import { neededCompanies } from '../enriching/needed-companies.ts'
import { firstUpdatePlace } from '../enriching/places.ts'
import { listNamed } from '../pages/list-calls.ts'
import type { MakingConnector } from './fit-row.ts'
import { makeAll, type MadeAll, type MakeAllOptions, type PlanPart } from './make-all.ts'
import { assertIndexed, assertMaking } from './may-make.ts'
import { assertOwners, knownOwners, type KnownOwners } from './owners.ts'
import type { PlannedAssociation } from './plan-beside.ts'
import { listRules } from './plan-list.ts'
import { companySettings } from './row-companies.ts'

export interface ApplyListOptions {
  connector: Connector
  signal: AbortSignal
  onProgress?: ((done: number, total: number) => void) | undefined
  /** The longest that it waits for another list, or for the CRM. */
  waitMs?: number | undefined
  /** The most that is spent on lookups for the rows, where it is less than the plan's cost. */
  mostAtomic?: Atomic | undefined
  /** Called while rows are looked up, before records are made. */
  onLookups?: ((progress: Progress) => void) | undefined
  onNotice?: ((text: string) => void) | undefined
}

/** The companies that were made beside the people of a plan, by the state in which they ended. */
interface AppliedCompanies {
  entity: string
  created: number
  exists: number
  rejected: number
  left: number
}

/** The result of a list's plan. Scripts rely on its form. */
export interface AppliedList {
  planId: string
  runId: string
  list: string
  connector: string
  entity: string
  created: number
  exists: number
  rejected: number
  /** Rows that are not new any more, or are suppressed, by the verdict in their reason. */
  left: number
  /** Rows that have not ended: the same command continues. */
  waiting: number
  /** Null: none had to be made. */
  companies: AppliedCompanies | null
  /** The lookups for new rows. Null: the list has no recipe, or nothing was to be made. */
  enrichment: RunSummary | null
  /** The records that existed and were enriched. Null: the list updates none, or there was none. */
  updates: RunSummary | null
  end: 'finished' | 'parked' | 'interrupted'
  reason?: string
}

const usualWaitMs = 30_000

/**
 * Makes the records of a list's plan, and no others. Each row is judged again first: a record that appeared since is left as it is.
 * Interrupted or killed, the same call continues the same run.
 *
 * Companies of people are made before the people. Crash windows of the tie, beside those of each record (src/store/lists/created-records.ts):
 * - A company is made, and its people are not yet: the company's draft names the record, and the same plan goes on with the people.
 * - A person is made, and the tie is not: the draft is `sent`. The repeat finds the person by the key, ties it where it belongs to no
 *   company, and ends it.
 * - The tie is made, and the draft has not ended: the person belongs to a company, so that nothing is tied a second time.
 * Salesforce ties a contact by the insertion itself, and has the second window not.
 */
export async function applyList(
  context: Context,
  plan: Plan,
  options: ApplyListOptions,
): Promise<AppliedList> {
  const list = String(plan.job['list'])
  const settings = listNamed(context.config, list)
  if (plan.job['rules'] !== listRules(context, settings))
    throw new ConfigError(
      'plan_drifted',
      `plan ${plan.id} is not carried out: lists.${list} or the mapping has changed since. Make a new plan.`,
    )
  const connector = assertMaking(options.connector, settings, list)
  const { entity } = settings.into
  await assertIndexed(context, connector, settings)
  const owners = knownOwners(connector, entity)
  await assertOwners(owners, settings, list)
  const companies = companiesOf(plan)
  for (const each of [entity, ...(companies ? [companies.entity] : [])]) await makeCreatable(connector, each)

  const { db } = context.database
  const { run } = await context.runs.open({
    id: newRunId(context),
    connector: connector.name,
    object: plan.object,
    entity,
    recipe: plan.recipe,
    trigger: 'list',
    fingerprint: `plan|${plan.id}`,
    source: { plan: plan.id, list, entity },
  })
  await createPlanLedger(db, context).setRun(plan.id, run.id)
  const created = createCreatedRecords(db, context)
  const making = { runId: run.id, list, connector: connector.name, entity }
  const part = { planId: plan.id, planned: createPlannedRows(db) }
  const counted = async () => countsOf(await created.counts(run.id))
  const total = Number(plan.document['creates'] ?? 0)
  let done = (await counted()).of(entity).ended
  const { signal, waitMs = usualWaitMs, onProgress } = options
  const given = { signal, waitMs, areCompaniesMade: true }
  let end: MadeAll = { end: 'interrupted' }
  let lookups: ListLookups | undefined
  let updates: RunSummary | null = null
  // A person stops the run of the plan, and not those of its lookups: they are bought for nothing else.
  const halt = new AbortController()
  const watch = startPollLoop({
    name: 'stop a list when it is asked to',
    async work() {
      if (await context.runs.stopOf(run.id)) halt.abort()
    },
    pauseMs: 500,
    // While the ledger is out of reach nothing is bought.
    onError: () => {},
  })
  try {
    const lookupSignal = AbortSignal.any([signal, halt.signal])
    lookups = await lookUpRows(context, connector, plan, {
      ...options,
      signal: lookupSignal,
      list,
      settings,
    })
    const { bought } = lookups
    const owned = withOwners(owners, settings)
    const beside: MadeAll =
      companies && lookups.end !== 'interrupted'
        ? await makeAll(
            context,
            {
              making: { ...making, entity: companies.entity, isBeside: true },
              object: 'company',
              settings: companySettings(settings, companies.entity),
              connector,
              created,
            },
            { ...part, after: firstCompanyPlace, before: firstUpdatePlace },
            {
              ...given,
              onEnded: () => {},
              prepare: await onlyNeeded(context, connector, plan, part, lookups),
            },
          )
        : { end: 'finished' }
    end =
      beside.end === 'interrupted' || lookups.end === 'interrupted'
        ? { end: 'interrupted', ...(halt.signal.aborted ? { reason: 'the run was stopped' } : {}) }
        : await makeAll(
            context,
            { making, object: plan.object, settings: lookups.settings, connector, created },
            { ...part, after: 0, before: firstCompanyPlace },
            {
              ...given,
              // People whose company waits for another list wait with it, and the others do not.
              areCompaniesMade: beside.end === 'finished',
              prepare: async (rows) => owned(await bought(rows)),
              onEnded(rows) {
                done += rows
                onProgress?.(done, total)
              },
            },
          )
    if (end.end === 'finished') end = beside
    else if (beside.reason !== undefined) end = { ...end, reason: beside.reason }
    if (end.end === 'finished') end = lookups.ended
    // Not before: the records to be updated are read once, and a row that waits may yet turn out to be one.
    if (end.end === 'finished') {
      const updated = await lookups.update(run.id)
      if (updated) updates = updated.summary
      if (updated && updated.end !== 'finished')
        end = { end: updated.end, reason: waitsText(updated.summary.runId, 'records to be updated') }
    }
  } finally {
    await watch.stop()
    const state = { finished: 'finished', parked: 'parked', interrupted: 'stopped' } as const
    await context.runs.setState(run.id, state[end.end])
  }
  const { of } = await counted()
  const { ended, counts } = of(entity)
  const made = companies && { entity: companies.entity, ...of(companies.entity).counts }
  const waiting = end.end === 'finished' ? 0 : Math.max(0, total - ended)
  return {
    planId: plan.id,
    ...making,
    ...counts,
    waiting,
    companies: made ?? null,
    enrichment: lookups?.summary ?? null,
    updates,
    ...end,
  }
}

/** Returns what leaves out the companies that nobody who was looked up needs. Without lookups every planned one is needed. */
async function onlyNeeded(
  context: Context,
  connector: MakingConnector,
  plan: Plan,
  { planned }: Pick<PlanPart, 'planned'>,
  lookups: ListLookups,
): Promise<MakeAllOptions['prepare']> {
  if (!lookups.summary) return undefined
  const needed = await neededCompanies(context, connector, plan, planned, lookups)
  return async (rows) => rows.filter(({ key }) => needed.has(key))
}

/** Returns the companies that a plan makes for its people. */
function companiesOf({ document }: Plan): { entity: string } | undefined {
  const association = document['association'] as PlannedAssociation | null | undefined
  return association && association.creates > 0 ? association : undefined
}

/** Creates our fields, and throws ConfigError where no record can be made. */
async function makeCreatable(connector: MakingConnector, entity: string): Promise<void> {
  await makeReady(connector, [entity])
  await connector.ensureFields(entity, { dryRun: false, forCreating: true })
  const [problem] = (await connector.maker.check?.(entity)) ?? []
  if (problem) throw new ConfigError(problem.code, `${problem.message}. ${problem.todo}`)
}

/** Returns rows with the owners that they have now: one from a company whose user has left since the plan is none. */
function withOwners(
  owners: KnownOwners,
  { into }: ListSettings,
): (rows: readonly PlannedRow[]) => Promise<PlannedRow[]> {
  return async (rows) => {
    const found = await owners.find(rows.flatMap(({ owner }) => owner ?? []))
    return rows.map(({ owner: planned, ...row }) => {
      // Plans of an older version name the owner in the settings alone.
      const owner = planned ?? (typeof into.owner === 'string' ? into.owner : undefined)
      const isThere = owner !== undefined && (found.get(owner)?.isActive ?? planned === undefined)
      return isThere ? { ...row, owner } : row
    })
  }
}

interface Counts {
  counts: Omit<AppliedCompanies, 'entity'>
  ended: number
}

function countsOf(counts: Awaited<ReturnType<CreatedRecords['counts']>>): { of: (entity: string) => Counts } {
  return {
    of(entity) {
      const own = counts.filter((each) => each.entity === entity)
      const sum = (...states: CreatedState[]): number =>
        own.reduce((total, { state, count }) => total + (states.includes(state) ? count : 0), 0)
      const found = {
        created: sum('created', 'archived'),
        exists: sum('exists'),
        rejected: sum('rejected'),
        left: sum('left'),
      }
      return { counts: found, ended: found.created + found.exists + found.rejected + found.left }
    },
  }
}
