import type { Connector } from '../../connectors/connector.ts'
import { definitionOf } from '../../connectors/definitions.ts'
import { ConfigError, InputError } from '../../domain/errors.ts'
import { absentReason } from '../../domain/field-policy/current-record.ts'
import {
  explainStep,
  type ExpectedWrite,
  type Explanation,
  type RecordSpend,
} from '../../domain/planning/explain.ts'
import type { LookupKey } from '../../domain/keys.ts'
import type { PlannedRecord } from '../../domain/planning/planner.ts'
import type { Step } from '../../domain/planning/step.ts'
import { identifiersOf } from '../../domain/subjects/identifiers.ts'
import { followKnown, type FollowedRecord } from '../../planning/follow-known.ts'
import { recordsById } from '../../producers/records-by-id.ts'
import { accountsNamed } from '../../store/signals/kept-signals.ts'
import { pipelinesOf } from '../../store/signals/score-days.ts'
import type { Context } from '../context/context.ts'
import { wouldWrite } from '../plans/would-write.ts'
import type { HistoryOrigin, RecordName } from './history.ts'
import { lookupsOfRecord } from './record-lookups.ts'
import { openConnector } from '../context/connectors.ts'
import { entitiesOf } from '../context/entities.ts'

export interface Explained extends Explanation {
  /** Lookups whose fresh answers the plan uses. */
  known: LookupKey[]
  isSuppressed: boolean
  /** The cost of this record's lookups in all runs, from the ledger. */
  spend: RecordSpend
  /** The row of a list of which Paydirt made it. */
  made: HistoryOrigin | undefined
  /** The pipelines that watch it for signals. Their fields are written by no recipe. */
  pipelines: string[]
}

/**
 * Explains what a run with this recipe would do next with one record, why, and at what cost. Reads the record and the
 * ledger, and pays nothing. Throws ConfigError when there is no such CRM or record.
 */
export async function explain(
  context: Pick<
    Context,
    'config' | 'database' | 'fieldWrites' | 'lookups' | 'suppressions' | 'planning' | 'now'
  >,
  connector: Connector,
  name: RecordName,
  recipeName: string | undefined,
): Promise<Explained> {
  const { config, lookups, suppressions, planning } = context
  const { prices } = config
  const { entity, ...found } = await findRecord(connector, name)
  const recipe = config.recipes(found.object, recipeName ?? config.defaultRecipe)
  const run = { connector: connector.name, object: found.object, entity, recipe: recipe.name, source: {} }
  const { ofRun, ofRecords } = await planning.closedFields.find(connector, run, { dryRun: true })
  const [ofRecord] = await ofRecords([found])
  const record: PlannedRecord = { ...found, closed: { ...ofRecord, ...ofRun } }
  const [followed] = await followKnown([{ record, recipe }], { lookups, prices })
  const { step, facts, known, isFresh } = followed as FollowedRecord
  const isSuppressed = (await suppressions.match([identifiersOf(record.identity)])).has(0)
  const { spend, history } = await lookupsOfRecord(context, {
    connector: connector.name,
    object: entity,
    id: found.id,
  })
  const write = await expectedWrite(context, connector, entity, { ...found, step, known })
  const explanation = explainStep(record, recipe, facts, {
    prices,
    isFresh,
    spend,
    ...(write === undefined ? {} : { write }),
  })
  const named = { connector: connector.name, entities: [entity], id: found.id }
  const [account] = await accountsNamed(context.database.db, named)
  const pipelines = account ? await pipelinesOf(context.database.db, account.id) : []
  return { ...explanation, spend, known, isSuppressed, made: history.made, pipelines }
}

/** Asks the decision of the write itself, which knows more rules than the planner: addresses, options of picklists, undos. */
async function expectedWrite(
  context: Pick<Context, 'config' | 'fieldWrites'>,
  connector: Connector,
  entity: string,
  { id, identity, step, known }: PlannedRecord & { id: string; step: Step; known: LookupKey[] },
): Promise<ExpectedWrite | undefined> {
  if (step.kind !== 'write') return undefined
  const patch = Object.fromEntries(Object.entries(step.values).map(([field, set]) => [field, { set }]))
  const [write] = await wouldWrite(context, connector, entity, [
    { recordId: id, identity, steps: known, patch },
  ])
  return write && { fields: Object.keys(write.changes), reason: write.end?.reason, leftOut: write.leftOut }
}

/** The same for a record by its name: opens its CRM, and closes it. */
export async function explainRecord(
  context: Context,
  name: RecordName,
  recipeName: string | undefined,
): Promise<Explained> {
  const connector = await openConnector(context.config, name.connector, undefined)
  try {
    return await explain(context, connector, name, recipeName)
  } finally {
    await connector.close()
  }
}

/** Reads one record by its id: a scan would list the account. */
async function findRecord(
  connector: Connector,
  { object, id }: RecordName,
): Promise<PlannedRecord & { id: string; entity: string }> {
  const named = definitionOf(connector.name).canonicalId(id)
  const merged: string[] = []
  for (const entity of entitiesOf(connector, object)) {
    const found = (await recordsById(connector, entity, [named])).get(named)
    if (found?.state === 'present') return { ...found.record, values: found.values, entity }
    if (found?.state === 'person') {
      // Asked for as an account, and enriched as the contact that it is.
      const person = (await recordsById(connector, found.entity, [found.id])).get(found.id)
      if (person?.state === 'present')
        return { ...person.record, values: person.values, entity: found.entity }
    }
    if (found?.state === 'unreadable')
      throw new InputError('unreadable_record', `${connector.name} ${named}: ${found.reason}`)
    if (found?.state === 'merged' || found?.state === 'converted') merged.push(absentReason(found))
  }
  throw new ConfigError(
    'no_such_record',
    merged.length > 0
      ? `${connector.name} has no ${object} ${id} any more: ${merged.join(', ')}`
      : `${connector.name} has no ${object} ${id}`,
  )
}
