import { createHash } from 'node:crypto'
import type { Connector } from '../../../connectors/connector.ts'
import { ConfigError } from '../../../domain/errors.ts'
import { keyText } from '../../../domain/lists/list-draft.ts'
import type { JudgedRow } from '../../../domain/lists/verdicts.ts'
import type { Verdict } from '../../../domain/words.ts'
import { createPlannedRows, type PlannedRow } from '../../../store/lists/planned-rows.ts'
import { createPlanLedger } from '../../../store/plans/plans.ts'
import { objectOfList, type ListSettings } from '../../config/lists.ts'
import type { Context } from '../../context/context.ts'
import { rowFitter, type FittedRow, type MakingConnector } from './fit-row.ts'
import { judgeLive } from '../judging/judge-live.ts'
import type { ListCalls } from '../pages/list-calls.ts'
import { reachableOf, readList } from '../pages/read-list.ts'

/** A plan of records to be made. Scripts rely on its form. */
export interface ListPlan {
  plan: true
  kind: 'list'
  planId: string
  list: string
  into: ListSettings['into']
  /** The rows of the list in the ledger, and those that can be had. */
  rows: number
  reachable: number | null
  isComplete: boolean
  verdicts: Partial<Record<Verdict, number>>
  /** The records that `apply` makes. */
  creates: number
  /** The first of them, by the CRM's own property names. */
  first: { properties: FittedRow['properties']; leftOut: FittedRow['leftOut'] }[]
  /** The number of requests to the CRM that making them takes, about. */
  crmCalls: number
  /** Lists of companies tie their records to nothing. */
  association: null
  /** The reasons for which `apply` would refuse now. */
  refusals: string[]
}

interface Planned {
  row: PlannedRow
  fit: FittedRow
}

const shown = 5
/** Finding the records of a hundred rows takes so many calls. */
const callsPerHundred = 5

/** Returns the connector as one in which a list's records can be made. Throws ConfigError where they cannot. */
export function assertMaking(
  connector: Connector,
  { search, into: { entity } }: ListSettings,
  list: string,
): MakingConnector {
  const { maker, entities, name } = connector
  if (!maker) throw new ConfigError('makes_no_records', `no records can be made in ${name}`)
  const object = objectOfList(search)
  if (object !== 'company')
    throw new ConfigError(
      'people_list',
      `lists.${list}: records are made of companies only, not of the people of ${search}. \`paydirt lists export ${list}\` writes the rows into a file`,
    )
  if (entities[entity] !== object)
    throw new ConfigError(
      'unknown_entity',
      `lists.${list}.into.entity: ${name} has no object ${entity} for companies; there is ${Object.keys(
        entities,
      )
        .filter((each) => entities[each] === object)
        .join(', ')}`,
    )
  return { ...connector, maker }
}

/**
 * Plans the records that a list would make, from its pages in the ledger, and saves the plan under its id. Asks the CRM for the records
 * that exist now. Buys nothing, and writes nothing into the CRM.
 */
export async function planList(
  context: Context,
  calls: ListCalls,
  given: Connector,
  planId: string,
): Promise<ListPlan> {
  const { name, settings } = calls
  const connector = assertMaking(given, settings, name)
  const list = await readList(context, calls)
  const [fault] = list.faults
  if (fault !== undefined)
    throw new ConfigError('list_unusable', `lists.${name}: nothing is made of its rows: ${fault}`)
  if (list.pages === 0)
    throw new ConfigError(
      'list_unread',
      `the ledger has no page of ${name} that is fresh: \`paydirt lists fetch ${name} --budget USD\` buys them`,
    )
  const { index, rows: judged } = await judgeLive(context, connector, settings, list.rows)
  if (!index?.isComplete) throw indexIncomplete(settings)

  const fit = await rowFitter(connector, settings, name)
  const fitted = judged.map((each) => ({ each, fit: fit(each.row.values) }))
  const rows: JudgedRow[] = fitted.map(({ each, fit: { missing } }) =>
    each.verdict === 'new' && missing.length > 0
      ? { ...each, verdict: 'incomplete', reason: `the CRM needs ${missing.join(', ')}` }
      : each,
  )
  const planned = rows.flatMap((each, at): Planned[] => {
    const text = each.verdict === 'new' ? keyText(each.row.identities) : undefined
    if (text === undefined) return []
    const { identity, identities, values, page } = each.row
    const key = createHash('sha256').update(text).digest('hex').slice(0, 32)
    const lookupKey = calls.page(page).key
    const shared = each.answer === 'new' ? { sharesDomain: true } : {}
    const row = { ordinal: at + 1, key, identity, identities, values, page, lookupKey, ...shared }
    return [{ row, fit: fitted[at]!.fit }]
  })
  const hundreds = Math.ceil(planned.length / 100)
  const plan: ListPlan = {
    plan: true,
    kind: 'list',
    planId,
    list: name,
    into: settings.into,
    rows: list.rows.length,
    reachable: list.total === null ? null : reachableOf(calls, list.total),
    isComplete: list.isComplete,
    verdicts: countsOf(rows),
    creates: planned.length,
    first: planned.slice(0, shown).map(({ fit: { properties, leftOut } }) => ({ properties, leftOut })),
    // Found again, made, and read once for their snapshot.
    crmCalls: hundreds * callsPerHundred + 2 * Math.ceil(planned.length / connector.maker.perCreate),
    association: null,
    refusals: await refusalsOf(connector, settings),
  }
  await savePlan(
    context,
    plan,
    settings,
    planned.map(({ row }) => row),
  )
  return plan
}

export function indexIncomplete({ into: { connector } }: ListSettings): ConfigError {
  return new ConfigError(
    'index_incomplete',
    `no records are made while the index of ${connector} is not complete, because one that is there could be overlooked: \`paydirt index ${connector}\` reads it, at no cost`,
  )
}

/** Returns a digest of the settings that decide what is made of a list. With others a plan is no longer valid. */
export function listRules({ config }: Pick<Context, 'config'>, settings: ListSettings): string {
  const { search, into, exclude, requires } = settings
  const mapping = config.connectors[into.connector]?.mapping ?? null
  return createHash('sha256')
    .update(JSON.stringify([search, into, exclude ?? null, requires ?? null, mapping]))
    .digest('hex')
}

async function savePlan(
  context: Context,
  plan: ListPlan,
  settings: ListSettings,
  rows: readonly PlannedRow[],
): Promise<void> {
  const { db } = context.database
  const plans = createPlanLedger(db, context)
  const { planId, list, into } = plan
  await plans.begin({
    id: planId,
    kind: 'list',
    connector: into.connector,
    object: objectOfList(settings.search),
    entity: into.entity,
    recipe: 'list',
    job: { list, rules: listRules(context, settings) },
    priceAtomic: 0n,
  })
  const planned = createPlannedRows(db)
  for (let at = 0; at < rows.length; at += 500) await planned.add(planId, rows.slice(at, at + 500))
  // Names of records do not stand in the document, where nobody would look for them to forget them.
  const { first: _, ...document } = plan
  await plans.finish(planId, { document, toBuy: 0, highAtomic: 0n })
}

async function refusalsOf(connector: MakingConnector, { into: { entity } }: ListSettings): Promise<string[]> {
  const fields = await connector.ensureFields(entity, { dryRun: true, forCreating: true })
  const isMadeByApply = fields.some(({ status }) => status === 'would_create')
  const problems = (await connector.maker.check?.(entity)) ?? []
  return [
    ...fields.flatMap(({ name, status, reason }) =>
      status === 'missing' || status === 'conflict'
        ? [`${name} ${reason ?? 'is missing, and cannot be created'}`]
        : [],
    ),
    ...problems.flatMap(({ code, message, todo }) =>
      isMadeByApply && code.endsWith('key_missing') ? [] : [`${message}. ${todo}`],
    ),
  ]
}

function countsOf(rows: readonly JudgedRow[]): ListPlan['verdicts'] {
  const counts: ListPlan['verdicts'] = {}
  for (const { verdict } of rows) counts[verdict] = (counts[verdict] ?? 0) + 1
  return counts
}
