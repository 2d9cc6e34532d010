import { z } from 'zod'
import { PaydirtError } from '../../domain/errors.ts'
import type { CrmMapping } from '../../domain/mapping/mapping.ts'
import type { HubspotApi } from './api/client.ts'
import { readRefusal } from './api/refusal.ts'
import { batchSchema, paths, type HubspotEntity, type Refusal } from './api/wire.ts'

/**
 * An administrator's rule: while a property has one of these values, another must not be blank. Since version 2026-09
 * HubSpot enforces it on every write, also on one that touches neither of the two. No call of HubSpot's lists the rules:
 * they are named in `paydirt.config.ts`, or learned from a refusal.
 */
export const requiredRuleSchema = z.strictObject({
  property: z.string().min(1),
  when: z.strictObject({ property: z.string().min(1), is: z.array(z.string().min(1)).min(1) }),
})
export type RequiredRule = z.output<typeof requiredRuleSchema>

type Values = Readonly<Record<string, string | null | undefined>>

export interface RequiredRules {
  /** Returns the properties that the rules of an entity are about. */
  names(entity: string): string[]
  /**
   * Returns why HubSpot would refuse every write to a record, or undefined. A property that we could fill ourselves is
   * no reason.
   */
  fault(entity: string, values: Values): string | undefined
  /** Keeps the rule by which HubSpot refused a write to a record that has these values. */
  learn(entity: string, property: string, because: string, values: Values): void
}

/** Rules change without notice, so a learned one is forgotten: then one record is tried again. */
const learnedForMs = 3_600_000

export function createRequiredRules(options: {
  declared: Readonly<Record<string, readonly RequiredRule[]>>
  mapping: CrmMapping
  now: () => number
}): RequiredRules {
  const { declared, mapping, now } = options
  const learned = new Map<string, { entity: string; rule: RequiredRule; untilMs: number }>()
  const rulesOf = (entity: string): RequiredRule[] => {
    const writable = new Set(
      Object.values(mapping.entities[entity]?.fields ?? {}).map(({ property }) => property),
    )
    const known = [...learned.values()].filter((each) => each.entity === entity && each.untilMs > now())
    return [...(declared[entity] ?? []), ...known.map(({ rule }) => rule)].filter(
      ({ property }) => !writable.has(property),
    )
  }
  return {
    names: (entity) => [
      ...new Set(rulesOf(entity).flatMap(({ property, when }) => [property, when.property])),
    ],
    fault(entity, values) {
      const broken = rulesOf(entity).find(
        // Only by what was read: a property that was not asked for is not a blank one.
        ({ property, when }) =>
          property in values && when.is.includes(values[when.property] ?? '') && !values[property],
      )
      return broken && requiredReason(broken.property, broken.when.property)
    },
    learn(entity, property, because, values) {
      const value = values[because]
      if (!value || values[property]) return
      const rule = { property, when: { property: because, is: [value] } }
      learned.set(JSON.stringify([entity, rule]), { entity, rule, untilMs: now() + learnedForMs })
    },
  }
}

/** Without the value, which is the record's. */
export function requiredReason(property: string, because: string | undefined): string {
  const when = because === undefined ? '' : ` of records with this "${because}"`
  return `HubSpot requires "${property}"${when}: fill it in, or change the rule in HubSpot’s settings`
}

/** Learns from a refused record, by one more reading. A record that cannot be read teaches nothing. */
export async function learnRequired(
  { api, required }: { api: HubspotApi; required: RequiredRules },
  entity: HubspotEntity,
  { id, sent }: { id: string; sent: Values },
  refusal: Refusal,
): Promise<void> {
  const { property, because } = readRefusal(refusal)
  if (property === undefined || because === undefined || because in sent) return
  try {
    const properties = [property, because]
    const body = { inputs: [{ id }], properties, propertiesWithHistory: [] }
    const { results } = await api.need(batchSchema, {
      method: 'POST',
      path: paths.batchRead(entity),
      body,
    })
    if (results[0]) required.learn(entity, property, because, results[0].properties)
  } catch (error) {
    if (!(error instanceof PaydirtError)) throw error
  }
}
