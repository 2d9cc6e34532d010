import type { Connector } from '../../connectors/connector.ts'
import { crmOf, type CrmName } from '../../connectors/definitions.ts'
import { observedFieldNames, readAnswer, type AnswerSource } from '../../domain/fields.ts'
import { toCrm } from '../../domain/mapping/convert.ts'
import type { DescribedField, EntityMapping } from '../../domain/mapping/mapping.ts'
import { resolveMapping } from '../../domain/mapping/schema.ts'
import { nearNames } from '../../domain/normalise/near-names.ts'
import type { FieldValue } from '../../domain/record.ts'
import type { ObjectKind, Operation } from '../../domain/words.ts'
import { knownAnswers } from '../../store/views/known-answers.ts'
import { openConnector } from '../context/connectors.ts'
import type { Context } from '../context/context.ts'
import { entitiesOf } from '../context/entities.ts'

/** A value that the service has told, and that has no counterpart among the options of its property. */
interface ValueWithoutOption {
  value: string
  /** The number of answers that have it. */
  answers: number
  /** Options with a similar name. */
  near: string[]
}

export interface OptionReport {
  entity: string
  field: string
  property: string
  /** True where the mapping allows values that are no option. */
  allowNew: boolean
  /** The number of different values that the ledger has for the field. */
  values: number
  without: ValueWithoutOption[]
}

const sources: Readonly<Record<ObjectKind, readonly (readonly [Operation, AnswerSource])[]>> = {
  company: [
    ['company.profile', 'company'],
    ['company.enrich', 'enrichment'],
  ],
  person: [['person.profile', 'person']],
}

/** The same for a CRM by its name, and an object of it: opens the CRM, and closes it. */
export async function optionsOf(
  context: Pick<Context, 'config' | 'database'>,
  name: string,
  object: string | undefined,
): Promise<OptionReport[]> {
  const connector = await openConnector(context.config, name, undefined)
  try {
    return await reportOptions(context, connector, entitiesOf(connector, object))
  } finally {
    await connector.close()
  }
}

/**
 * Returns, for each mapped picklist of the account, the values in the ledger that no option fits: they would be left out
 * of every write. Buys and writes nothing.
 */
export async function reportOptions(
  { config, database }: Pick<Context, 'config' | 'database'>,
  connector: Connector,
  entities: readonly string[],
): Promise<OptionReport[]> {
  const mapping = resolveMapping(
    crmOf(connector.name).mapping,
    config.connectors[connector.name as CrmName]?.mapping,
  )
  const reports: OptionReport[] = []
  for (const entity of entities) {
    const mapped = mapping.entities[entity]
    if (!mapped) continue
    const described = new Map((await connector.describe(entity)).map((field) => [field.name, field]))
    // Observed fields are ours, options and all: no answer is mapped to them.
    const observed = new Set(observedFieldNames(mapped.object))
    const choices = Object.entries(mapped.fields).flatMap(([field, wanted]) => {
      if (observed.has(field)) return []
      const property = described.get(wanted.property)
      return property?.options ? [{ field, property }] : []
    })
    if (choices.length === 0) continue
    const told = await toldValues(
      database.db,
      mapped.object,
      choices.map(({ field }) => field),
    )
    for (const { field, property } of choices)
      reports.push(reportOf(entity, mapped, field, property, told.get(field) ?? new Map()))
  }
  return reports
}

function reportOf(
  entity: string,
  mapped: EntityMapping,
  field: string,
  property: DescribedField,
  told: ReadonlyMap<FieldValue, number>,
): OptionReport {
  const wanted = mapped.fields[field] ?? { property: property.name }
  const names = (property.options ?? []).map(({ label }) => label)
  const without = [...told]
    .filter(([value]) => !toCrm(value, property, wanted).ok)
    .map(([value, answers]) => ({ value: String(value), answers, near: nearNames(String(value), names) }))
  return {
    entity,
    field,
    property: property.name,
    allowNew: wanted.allowNew === true,
    values: told.size,
    without: without.sort((a, b) => b.answers - a.answers || (a.value < b.value ? -1 : 1)),
  }
}

/** Returns, by field, how often the ledger has each value. */
async function toldValues(
  db: Context['database']['db'],
  object: ObjectKind,
  fields: readonly string[],
): Promise<Map<string, Map<FieldValue, number>>> {
  const byOperation = new Map(sources[object])
  const told = new Map(fields.map((field) => [field, new Map<FieldValue, number>()]))
  for await (const { operation, data } of knownAnswers(db, [...byOperation.keys()])) {
    const { values } = readAnswer(byOperation.get(operation) ?? object, data)
    for (const [field, counts] of told) {
      const value = values[field]
      if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1)
    }
  }
  return told
}
