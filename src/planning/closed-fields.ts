import type { BlockedValue } from '../domain/field-policy/blocked-values.ts'
import type { FieldRule } from '../domain/field-policy/field-policy.ts'
import { mappingDigest } from '../domain/mapping/digest.ts'
import type { DescribedField, EntityMapping } from '../domain/mapping/mapping.ts'
import { closedFields, type AccountFields, type ClosedFields } from '../domain/planning/could-write.ts'
import type { RecipeBook } from '../domain/planning/recipes.ts'
import type { FieldSource } from '../domain/ports/field-source.ts'
import type { FieldValue } from '../domain/record.ts'
import type { Run } from '../store/runs/runs.ts'
import type { WriteHistory, WriteIntents } from '../store/writes/write-intents.ts'

export interface ClosedFieldsOptions {
  recipes: RecipeBook
  rule: (connector: string, field: string) => FieldRule
  fieldWrites: Pick<WriteIntents, 'history'>
  now: () => Date
}

type JudgedRun = Pick<Run, 'connector' | 'object' | 'entity' | 'recipe' | 'source'>

interface ClosedFieldsOfRun {
  /** The fields of the recipe to which nothing could be written in any record of the account. */
  ofRun: ClosedFields
  /** Returns for each record, in order, the other fields to which nothing could be written in it. */
  ofRecords(
    records: readonly { id: string; values?: Readonly<Record<string, FieldValue>> | undefined }[],
    /** Read before, by `historyOf`. */
    history?: Promise<WriteHistory | undefined>,
  ): Promise<ClosedFields[]>
}

export interface ClosedFieldsFinder {
  /**
   * Returns which fields of a run's recipe could not be written. Creates the optional properties of ours that the recipe
   * wants, once a process; a dry run counts those that a run would create.
   */
  find(connector: FieldSource, run: JudgedRun, options: { dryRun: boolean }): Promise<ClosedFieldsOfRun>
  /** Returns what we wrote into these records, for `ofRecords`; undefined for a source that keeps no values. */
  historyOf(connector: FieldSource, entity: string, ids: readonly string[]): Promise<WriteHistory | undefined>
}

const keepMs = 10 * 60_000

/**
 * Finds the fields to which nothing could be written, for every trigger: by the mapping, the account's own fields, the field
 * policy, and for each record by its values and our earlier writes. `whyClosed` is the rule; this module brings its facts.
 */
export function createClosedFieldsFinder(options: ClosedFieldsOptions): ClosedFieldsFinder {
  const { recipes, fieldWrites, now } = options
  const ensured = new Map<string, { atMs: number; schema: Promise<ReadonlyMap<string, DescribedField>> }>()

  async function schemaOf(
    connector: FieldSource,
    entity: string,
    wanted: { mapping: EntityMapping; fields: readonly string[]; dryRun: boolean },
  ): Promise<ReadonlyMap<string, DescribedField>> {
    const described = byName(await connector.describe(entity))
    const lacking = wanted.fields.filter((field) => {
      const mapped = wanted.mapping.fields[field]
      return mapped?.create && !described.has(mapped.property)
    })
    if (lacking.length === 0) return described
    const key = JSON.stringify([connector.name, entity, wanted.dryRun, lacking])
    const before = ensured.get(key)
    if (before && before.atMs > now().getTime() - keepMs) return before.schema
    const schema = ensure(connector, entity, lacking, wanted)
    ensured.set(key, { atMs: now().getTime(), schema })
    schema.catch(() => ensured.delete(key))
    return schema
  }

  async function historyOf(
    connector: FieldSource,
    entity: string,
    ids: readonly string[],
  ): Promise<WriteHistory | undefined> {
    if (!connector.capabilities.keepsValues || ids.length === 0) return undefined
    return fieldWrites.history(connector.name, entity, ids, [])
  }

  return {
    historyOf,

    async find(connector, run, { dryRun }) {
      const { fields } = recipes(run.object, run.recipe)
      const rule = (field: string) => options.rule(connector.policiesOf ?? connector.name, field)
      const mapping = connector.mapping?.entities[run.entity]
      const schema = mapping
        ? await schemaOf(connector, run.entity, { mapping, fields, dryRun })
        : new Map<string, DescribedField>()
      const account: AccountFields = { mapping, schema, rule }
      const watched = watchedFields(run)
      const without = (closed: ClosedFields, ...names: (readonly string[])[]): ClosedFields =>
        Object.fromEntries(Object.entries(closed).filter(([field]) => !names.flat().includes(field)))
      const ofRun = without(closedFields(fields, account), watched)
      return {
        ofRun,
        async ofRecords(records, read) {
          const known = records.filter(({ values }) => values !== undefined).map(({ id }) => id)
          const history = await (read ?? historyOf(connector, run.entity, known))
          // Under another policy or mapping what was undone may be written again.
          const isStillUndone = (each: BlockedValue): boolean =>
            each.rule === rule(each.field) && each.mapping === mappingDigest(mapping?.fields[each.field])
          return records.map(({ id, values }) => {
            if (!values) return {}
            const undone = (history?.undone.get(id) ?? []).filter(isStillUndone)
            const closed = closedFields(fields, account, {
              values,
              ours: history?.ours.get(id),
              undone: new Set(undone.map(({ field }) => field)),
            })
            return without(closed, watched, Object.keys(ofRun))
          })
        },
      }
    },
  }
}

/** A refresh reports who has changed jobs, also where the new employer and title may not be written. */
function watchedFields({ object, source }: JudgedRun): readonly string[] {
  return object === 'person' && source['refresh'] === true ? ['job_title', 'company_name'] : []
}

async function ensure(
  connector: FieldSource,
  entity: string,
  fields: readonly string[],
  { mapping, dryRun }: { mapping: EntityMapping; dryRun: boolean },
): Promise<ReadonlyMap<string, DescribedField>> {
  const made = await connector.ensureFields(entity, { dryRun, fields })
  const schema = new Map(byName(await connector.describe(entity)))
  const created = new Set(
    made.filter(({ status }) => status === 'would_create' || status === 'created').map(({ name }) => name),
  )
  for (const field of fields) {
    const { property, create } = mapping.fields[field] ?? {}
    if (property === undefined || !create || schema.has(property) || !created.has(property)) continue
    schema.set(property, {
      name: property,
      label: create.label,
      type: create.type,
      writable: true,
      custom: true,
    })
  }
  return schema
}

function byName(fields: readonly DescribedField[]): ReadonlyMap<string, DescribedField> {
  return new Map(fields.map((field) => [field.name, field]))
}
