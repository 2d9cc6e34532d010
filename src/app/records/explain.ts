import type { Connector } from '../../connectors/connector.ts'
import { definitionOf } from '../../connectors/definitions.ts'
import { ConfigError, InputError } from '../../domain/errors.ts'
import { absentReason } from '../../domain/field-policy/current-record.ts'
import { explainStep, type Explanation } from '../../domain/planning/explain.ts'
import type { LookupKey } from '../../domain/keys.ts'
import { nextStep, slotOf, type Facts, type PlannedRecord } from '../../domain/planning/planner.ts'
import { identifiersOf } from '../../domain/subjects/identifiers.ts'
import { isFreeOperation } from '../../domain/operations.ts'
import { recordsById } from '../../producers/records-by-id.ts'
import type { Context } from '../context/context.ts'
import type { RecordName } from './history.ts'
import { entitiesOf } from '../context/entities.ts'

export interface Explained extends Explanation {
  /** Lookups whose fresh answers the plan uses. */
  known: LookupKey[]
  isSuppressed: boolean
}

/**
 * Explains what a run with this recipe would do next with one record, why, and at what cost. Reads the record and the
 * ledger, and pays nothing. Throws ConfigError when there is no such CRM or record.
 */
export async function explain(
  context: Pick<Context, 'config' | 'lookups' | 'suppressions' | 'now'>,
  connector: Connector,
  name: RecordName,
  recipeName: string | undefined,
): Promise<Explained> {
  const { config, lookups, suppressions, now } = context
  const record = await findRecord(connector, name)
  const recipe = config.recipes(record.object, recipeName ?? config.defaultRecipe)
  const facts: Facts = {}
  const known: LookupKey[] = []
  for (;;) {
    const step = nextStep(record, recipe, facts, { prices: config.prices })
    if (step.kind !== 'lookup') break
    const fact = (await lookups.facts([step.lookup.key])).get(step.lookup.key)
    const isKnown = fact !== undefined && fact.outcome !== 'failed' && fact.freshUntil > now()
    if (!isKnown && !isFreeOperation(step.lookup.operation)) break
    facts[slotOf(step.lookup.key)] = isKnown
      ? { ...fact, priceAtomic: 0n }
      : { outcome: 'not_found', data: null }
    if (isKnown) known.push(step.lookup.key)
  }
  const isSuppressed = (await suppressions.match([identifiersOf(record.identity)])).has(0)
  return { ...explainStep(record, recipe, facts, { prices: config.prices }), known, isSuppressed }
}

/** Reads one record by its id: a scan would list the account. */
async function findRecord(connector: Connector, { object, id }: RecordName): Promise<PlannedRecord> {
  const named = definitionOf(connector.name).canonicalId(id)
  const merged: string[] = []
  for (const entity of entitiesOf(connector, object)) {
    const found = (await recordsById(connector, entity, [named])).get(named)
    if (found?.state === 'present') return found.record
    if (found?.state === 'person') {
      // Asked for as an account, and enriched as the contact that it is.
      const person = (await recordsById(connector, found.entity, [found.id])).get(found.id)
      if (person?.state === 'present') return person.record
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
