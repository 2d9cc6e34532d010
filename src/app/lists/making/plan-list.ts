import { createHash } from 'node:crypto'
import type { Connector } from '../../../connectors/connector.ts'
import { ConfigError } from '../../../domain/errors.ts'
import { keyText } from '../../../domain/lists/list-draft.ts'
import type { StoredRow } from '../../../domain/lists/list-row.ts'
import type { Verdict } from '../../../domain/words.ts'
import { createPlannedRows, type PlannedRow } from '../../../store/lists/planned-rows.ts'
import { createPlanLedger } from '../../../store/plans/plans.ts'
import { objectOfList, type ListSettings } from '../../config/lists.ts'
import type { Context } from '../../context/context.ts'
import { rowFitter, type FittedRow, type MakingConnector } from './fit-row.ts'
import { indexOfList } from '../judging/judge-list.ts'
import { judgeLive } from '../judging/judge-live.ts'
import { judgedRowsOf, type JudgedStoredRow } from '../judging/judged-rows.ts'
import type { ListCalls } from '../pages/list-calls.ts'
import { readList } from '../pages/read-list.ts'
import { withExclusions, type ReadExclusionsOptions } from '../exclusions/read-exclusions.ts'

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

const shown = 5
/** Finding the records of a hundred rows takes so many calls. */
const callsPerHundred = 5

/** Returns the connector as one in which a list's records can be made. Throws ConfigError where they cannot. */
export function assertMaking(
  connector: Connector,
  { search, people, into: { entity } }: ListSettings,
  list: string,
): MakingConnector {
  const { maker, entities, name } = connector
  if (!maker) throw new ConfigError('makes_no_records', `no records can be made in ${name}`)
  const object = objectOfList({ search, people })
  if (object !== 'company')
    throw new ConfigError(
      'people_list',
      `lists.${list}: records are made of companies only, not of people. \`paydirt lists export ${list}\` writes the rows into a file`,
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
  const { name, settings, exclusions } = calls
  const connector = assertMaking(given, settings, name)
  const list = await readList(context, calls)
  const [fault] = list.faults
  if (fault !== undefined)
    throw new ConfigError('list_unusable', `lists.${name}: nothing is made of its rows: ${fault}`)
  const { fetch } = list
  if (!fetch || list.pages === 0 || !list.isCurrent)
    throw new ConfigError(
      'list_unread',
      `the ledger has no page of ${name} that is fresh: \`paydirt lists fetch ${name} --budget USD\` buys them`,
    )
  const index = await indexOfList(context, settings)
  if (!index?.isComplete) throw indexIncomplete(settings)

  const fit = await rowFitter(connector, settings, name)
  const { db } = context.database
  const plans = createPlanLedger(db, context)
  await beginPlan(context, planId, calls)
  try {
    const planned = createPlannedRows(db)
    const { suppressed, excluded } = fetch.dropped
    const verdicts: ListPlan['verdicts'] = {
      ...(suppressed === undefined ? {} : { suppressed }),
      ...(excluded === undefined ? {} : { excluded }),
    }
    const first: ListPlan['first'] = []
    let creates = 0
    // Rows are stored as they are judged, so that a list of any length is never held whole.
    for await (const batch of judgedRowsOf(context, calls, fetch.id, {
      judge: async (rows, others) =>
        withoutExcluded(await judgeLive(context, connector, settings, rows, others), exclusions),
    })) {
      const drafts = batch.map((each) => draftOf(each, fit))
      for (const { verdict } of drafts) verdicts[verdict] = (verdicts[verdict] ?? 0) + 1
      const made = drafts.flatMap(({ row, fit: { properties, leftOut } }) =>
        row === undefined ? [] : [{ row, properties, leftOut }],
      )
      await planned.add(
        planId,
        made.map(({ row }) => row),
      )
      creates += made.length
      for (const { properties, leftOut } of made.slice(0, shown - first.length))
        first.push({ properties, leftOut })
    }
    const plan: ListPlan = {
      plan: true,
      kind: 'list',
      planId,
      list: name,
      into: settings.into,
      snapshot: fetch.id,
      rows: list.rows,
      reachable: list.reachable,
      isComplete: list.isComplete,
      verdicts,
      creates,
      first,
      // Found again, made, and read once for their snapshot.
      crmCalls:
        Math.ceil(creates / 100) * callsPerHundred + 2 * Math.ceil(creates / connector.maker.perCreate),
      association: null,
      refusals: await refusalsOf(connector, settings),
    }
    // Names of records do not stand in the document, where nobody would look for them to forget them.
    const { first: _, ...document } = plan
    await plans.finish(planId, { document, toBuy: 0, highAtomic: 0n })
    return plan
  } catch (error) {
    await plans.drop(planId)
    throw error
  }
}

/** A record of a filter leaves a row out, whatever else the row may be; one that is suppressed or has no id stays that. */
async function withoutExcluded(
  judged: JudgedStoredRow[],
  exclusions: ListCalls['exclusions'],
): Promise<JudgedStoredRow[]> {
  const excluded = await exclusions?.among(judged.map(({ row }) => row))
  if (!excluded || excluded.size === 0) return judged
  return judged.map((each, at) =>
    excluded.has(at) && each.verdict !== 'suppressed' && each.verdict !== 'drifted'
      ? { ...each, verdict: 'excluded', reason: 'a filter of the list leaves it out', records: [] }
      : each,
  )
}

/** Returns a row as the plan has it: without a draft where no record is to be made of it. */
function draftOf(
  { verdict, ordinal, answer, row: stored }: JudgedStoredRow,
  fit: (values: StoredRow['values']) => FittedRow,
): { verdict: Verdict; row: PlannedRow | undefined; fit: FittedRow } {
  const { identity, identities, values, page, lookupKey } = stored
  const fitted = fit(values)
  const text = verdict === 'new' ? keyText(identities) : undefined
  if (verdict === 'new' && fitted.missing.length > 0)
    return { verdict: 'incomplete', row: undefined, fit: fitted }
  if (text === undefined) return { verdict, row: undefined, fit: fitted }
  const key = createHash('sha256').update(text).digest('hex').slice(0, 32)
  const shared = answer === 'new' ? { sharesDomain: true } : {}
  const row = { ordinal, key, identity, identities, values, page, lookupKey, ...shared }
  return { verdict, row, fit: fitted }
}

export function indexIncomplete({ into: { connector } }: ListSettings): ConfigError {
  return new ConfigError(
    'index_incomplete',
    `no records are made while the index of ${connector} is not complete, because one that is there could be overlooked: \`paydirt index ${connector}\` reads it, at no cost`,
  )
}

/** Returns a digest of the settings that decide what is made of a list. With others a plan is no longer valid. */
export function listRules({ config }: Pick<Context, 'config'>, settings: ListSettings): string {
  const { search, like, people, into, exclude, requires } = settings
  const mapping = config.connectors[into.connector]?.mapping ?? null
  return createHash('sha256')
    .update(
      JSON.stringify([
        search,
        into,
        exclude ?? null,
        requires ?? null,
        mapping,
        ...(like || people ? [like ?? null, people ?? null] : []),
      ]),
    )
    .digest('hex')
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
    priceAtomic: 0n,
  })
}

/** Returns the reasons why the CRM would refuse new records, by its fields and rights. */
export async function refusalsOf(
  connector: MakingConnector,
  { into: { entity } }: ListSettings,
): Promise<string[]> {
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
