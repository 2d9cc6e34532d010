import { createHash } from 'node:crypto'
import type { Connector } from '../../../connectors/connector.ts'
import { ConfigError } from '../../../domain/errors.ts'
import { recordKeyOf } from '../../../domain/lists/list-draft.ts'
import type { StoredRow } from '../../../domain/lists/list-row.ts'
import type { OtherRows } from '../../../domain/lists/verdicts.ts'
import type { Verdict } from '../../../domain/words.ts'
import { createPlannedRows, type PlannedRow } from '../../../store/lists/planned-rows.ts'
import { createPlanLedger } from '../../../store/plans/plans.ts'
import { objectOfList, type ListSettings } from '../../config/lists.ts'
import type { Context } from '../../context/context.ts'
import { rowFitter, type FittedRow } from './fit-row.ts'
import { assertIndexed, assertMaking, refusalsOf } from './may-make.ts'
import { planBeside, type PlannedAssociation, type PlannedOwner } from './plan-beside.ts'
import { judgeLive } from '../judging/judge-live.ts'
import { judgedRowsOf, type JudgedStoredRow } from '../judging/judged-rows.ts'
import type { ListCalls } from '../pages/list-calls.ts'
import { readList } from '../pages/read-list.ts'
import { planCosts, rowsToUpdate, type PlannedLookups } from '../enriching/plan-costs.ts'
import { withExclusions, type ReadExclusionsOptions } from '../exclusions/read-exclusions.ts'
import { withoutExcluded } from '../exclusions/without-excluded.ts'

/** A plan of records to be made. Scripts rely on its form. */
export interface ListPlan {
  plan: true
  kind: 'list'
  planId: string
  list: string
  into: ListSettings['into']
  /** The fetch whose rows are planned. */
  snapshot: string
  /** The rows of the list in the ledger, and those that can be had. */
  rows: number
  reachable: number | null
  /** The rows that are wanted and that the service does not answer. */
  outside: number
  /** The most people that are wanted at each company. Null: the list is not of people at companies. */
  perCompany: number | null
  isComplete: boolean
  verdicts: Partial<Record<Verdict, number>>
  /** The records that `apply` makes. */
  creates: number
  /** The first of them, by the CRM's own property names. */
  first: {
    properties: FittedRow['properties']
    leftOut: FittedRow['leftOut']
    /** The company of a person: the id of a record that is there, or the name of one that is made first. */
    company?: string
  }[]
  /** The number of requests to the CRM that making them takes, about. */
  crmCalls: number
  /** The companies of people. Null: the records are tied to nothing. */
  association: PlannedAssociation | null
  owners: PlannedOwner[]
  /** The lookups for new rows, before they become records. Null: the list has no recipe. */
  enrichment: PlannedLookups | null
  /** The lookups for records that exist. Null: the list does not update them. */
  updates: PlannedLookups | null
  /** The reasons for which `apply` would refuse now. */
  refusals: string[]
}

const shown = 5
/** Finding the records of a hundred rows takes so many calls. */
const callsPerHundred = 5

/**
 * Plans the records that a list would make, from its pages in the ledger, and saves the plan under its id. Asks the CRM for the records
 * that exist now. Buys nothing, and writes nothing into the CRM.
 */
export async function planList(
  context: Context,
  calls: ListCalls,
  given: Connector,
  planId: string,
  options: ReadExclusionsOptions = { signal: new AbortController().signal },
): Promise<ListPlan> {
  assertMaking(given, calls.settings, calls.name)
  // Read anew: a company may have become a customer since the fetch.
  const reading = await withExclusions(context, calls, options)
  options.signal.throwIfAborted()
  try {
    return await planRows(context, reading, given, planId)
  } finally {
    await reading.exclusions?.close()
  }
}

async function planRows(
  context: Context,
  calls: ListCalls,
  given: Connector,
  planId: string,
): Promise<ListPlan> {
  const { name, settings, exclusions, makes = true } = calls
  const connector = assertMaking(given, settings, name)
  const source = await rowsToPlan(context, calls)
  await assertIndexed(context, connector, settings)

  const fit = await rowFitter(connector, settings, name)
  const { db } = context.database
  const plans = createPlanLedger(db, context)
  await beginPlan(context, planId, calls)
  try {
    const planned = createPlannedRows(db)
    const updates = rowsToUpdate(settings)
    const beside = await planBeside(context, connector, { name, settings, planId, planned })
    const { suppressed, excluded } = source.dropped
    const verdicts: ListPlan['verdicts'] = {
      ...(suppressed === undefined ? {} : { suppressed }),
      ...(excluded === undefined ? {} : { excluded }),
    }
    const first: ListPlan['first'] = []
    let creates = 0
    // Rows are stored as they are judged, so that a list of any length is never held whole.
    for await (const batch of source.judged(async (rows, others) =>
      withoutExcluded(await judgeLive(context, connector, settings, rows, others), exclusions),
    )) {
      const drafts = batch.map((each) => draftOf(each, fit, makes))
      for (const { verdict } of drafts) verdicts[verdict] = (verdicts[verdict] ?? 0) + 1
      const { rows, companies } = await beside.complete(
        drafts.flatMap(({ row }, at) => (row ? [{ row, at: batch[at]?.row.company }] : [])),
      )
      await planned.add(planId, [...rows, ...companies, ...updates.add(batch)])
      creates += rows.length
      for (const row of rows.slice(0, shown - first.length)) first.push(shownRow(row, companies, fit))
    }
    const association = beside.association()
    const companies = association?.creates ?? 0
    const costs = await planCosts(
      context,
      connector,
      { id: planId, object: objectOfList(settings), entity: settings.into.entity },
      { list: name, settings, creates, updates: updates.count() },
    )
    const refusals = [...(await refusalsOf(connector, settings.into.entity)), ...costs.refusals]
    if (association && companies > 0) refusals.push(...(await refusalsOf(connector, association.entity)))
    const plan: ListPlan = {
      plan: true,
      kind: 'list',
      planId,
      list: name,
      into: settings.into,
      ...source.document,
      perCompany: settings.people?.perCompany ?? null,
      verdicts,
      creates,
      first,
      // Found again, before lookups too, looked up by our key, made, and read once for their snapshot.
      crmCalls:
        (Math.ceil(creates / 100) * (settings.recipe === undefined ? 1 : 2) + Math.ceil(companies / 100)) *
          callsPerHundred +
        3 *
          (Math.ceil(creates / connector.maker.perCreate) + Math.ceil(companies / connector.maker.perCreate)),
      association,
      owners: beside.owners(),
      enrichment: costs.enrichment,
      updates: costs.updates,
      refusals: [...new Set(refusals)],
    }
    // Names of records do not stand in the document, where nobody would look for them to forget them.
    const { first: _, owners, ...document } = plan
    const unnamed = owners.map((each) => ({ ...each, name: null }))
    await plans.finish(planId, {
      document: { ...document, owners: unnamed },
      toBuy: costs.toBuy,
      highAtomic: costs.highAtomic,
    })
    return plan
  } catch (error) {
    await plans.drop(planId)
    throw error
  }
}

type Judge = (rows: readonly StoredRow[], others: OtherRows) => Promise<JudgedStoredRow[]>

/** The rows of which a plan is made: those of a list's pages in the ledger, or the ones that were given. */
interface RowsToPlan {
  judged(judge: Judge): AsyncIterable<JudgedStoredRow[]>
  /** The rows that were left out when their page arrived, by verdict. */
  dropped: Readonly<Record<string, number>>
  document: Pick<ListPlan, 'snapshot' | 'rows' | 'reachable' | 'outside' | 'isComplete'>
}

async function rowsToPlan(context: Context, calls: ListCalls): Promise<RowsToPlan> {
  const { name, given } = calls
  if (given)
    return {
      async *judged(judge) {
        if (given.length > 0) yield judge(given, { named: new Map(), newAt: new Map() })
      },
      dropped: {},
      document: { snapshot: '', rows: given.length, reachable: given.length, outside: 0, isComplete: true },
    }
  const list = await readList(context, calls)
  const [fault] = list.faults
  if (fault !== undefined)
    throw new ConfigError('list_unusable', `lists.${name}: nothing is made of its rows: ${fault}`)
  const { fetch, rows, reachable, outside, isComplete } = list
  if (!fetch || list.pages === 0 || !list.isCurrent)
    throw new ConfigError(
      'list_unread',
      `the ledger has no page of ${name} that is fresh: \`paydirt lists fetch ${name} --budget USD\` buys them`,
    )
  return {
    judged: (judge) => judgedRowsOf(context, calls, fetch.id, { judge }),
    dropped: fetch.dropped,
    document: { snapshot: fetch.id, rows, reachable, outside, isComplete },
  }
}

/** Returns a row as the plan has it: without a draft where no record is to be made of it. */
function draftOf(
  { verdict, ordinal, answer, row: stored }: JudgedStoredRow,
  fit: (values: StoredRow['values']) => FittedRow,
  makes: boolean,
): { verdict: Verdict; row: PlannedRow | undefined; fit: FittedRow } {
  const { identity, identities, values, besides } = stored
  const { page, lookupKey } = originOf(stored)
  const fitted = fit(values)
  if (!makes) return { verdict, row: undefined, fit: fitted }
  const key = verdict === 'new' ? recordKeyOf(stored) : undefined
  // A row that nothing names for certain could be made twice.
  if (verdict === 'new' && (fitted.missing.length > 0 || key === undefined))
    return { verdict: 'incomplete', row: undefined, fit: fitted }
  if (key === undefined) return { verdict, row: undefined, fit: fitted }
  const shared = answer === 'new' ? { sharesDomain: true } : {}
  const row = {
    ordinal,
    key,
    identity,
    identities,
    values,
    page,
    lookupKey,
    ...shared,
    ...(besides === undefined ? {} : { besides }),
  }
  return { verdict, row, fit: fitted }
}

/** Returns the page that has brought a row, and the lookup that bought it. One that was given has neither. */
function originOf({ page, lookupKey }: StoredRow): Pick<PlannedRow, 'page' | 'lookupKey'> {
  return page === 0 ? { page: null, lookupKey: null } : { page, lookupKey }
}

/** Returns a digest of the settings that decide what is made of a list. With others a plan is no longer valid. */
export function listRules({ config }: Pick<Context, 'config'>, settings: ListSettings): string {
  const { search, like, people, into, exclude, requires, recipe } = settings
  const mapping = config.connectors[into.connector]?.mapping ?? null
  return createHash('sha256')
    .update(
      JSON.stringify(
        [
          search,
          into,
          exclude ?? null,
          requires ?? null,
          mapping,
          ...(like || people ? [like ?? null, people ?? null] : []),
          ...(recipe === undefined ? [] : [config.recipes(objectOfList(settings), recipe)]),
        ],
        bigintAsText,
      ),
    )
    .digest('hex')
}

function bigintAsText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}

async function beginPlan(context: Context, planId: string, { name, settings }: ListCalls): Promise<void> {
  await createPlanLedger(context.database.db, context).begin({
    id: planId,
    kind: 'list',
    connector: settings.into.connector,
    object: objectOfList(settings),
    entity: settings.into.entity,
    recipe: 'list',
    job: { list: name, rules: listRules(context, settings) },
    priceAtomic: context.config.policy.maxPriceAtomic,
  })
}

function shownRow(
  { values, owner, company }: PlannedRow,
  companies: readonly PlannedRow[],
  fit: (values: StoredRow['values'], owner?: string) => FittedRow,
): ListPlan['first'][number] {
  const { properties, leftOut } = fit(values, owner)
  const made = company && 'key' in company ? companies.find(({ key }) => key === company.key) : undefined
  const name =
    company && 'recordId' in company
      ? company.recordId
      : (made?.identity.company ?? made?.identity.domain ?? (company && 'a company that is made'))
  return { properties, leftOut, ...(name === undefined ? {} : { company: name }) }
}
