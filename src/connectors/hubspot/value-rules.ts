import { PaydirtError } from '../../domain/errors.ts'
import type { CrmMapping, DescribedField } from '../../domain/mapping/mapping.ts'
import type { ConnectorProblem } from '../connector.ts'
import type { HubspotApi } from './api/client.ts'
import type { RequiredRule } from './required.ts'
import { paths, validationsSchema } from './api/wire.ts'

/**
 * Returns what an administrator's rules mean for us: which mapped properties take only some values, and which rules of
 * `paydirt.config.ts` name a property that there is not.
 */
export async function valueRules(
  { api, mapping }: { api: HubspotApi; mapping: CrmMapping },
  entity: string,
  described: readonly DescribedField[],
  declared: readonly RequiredRule[],
): Promise<ConnectorProblem[]> {
  const names = new Set(described.map(({ name }) => name))
  const unknown = [...new Set(declared.flatMap(({ property, when }) => [property, when.property]))].filter(
    (name) => !names.has(name),
  )
  const mapped = new Set(
    Object.values(mapping.entities[entity]?.fields ?? {}).map(({ property }) => property),
  )
  const rules = (await readRules(api, entity)).filter(({ propertyName }) => mapped.has(propertyName))
  return [
    ...unknown.map((name) => ({
      code: 'unknown_property',
      message: `connectors.hubspot.required: ${entity} have no property "${name}"`,
      todo: 'Name a property of the account in paydirt.config.ts.',
    })),
    ...rules.map(({ propertyName, propertyValidationRules: all }) => ({
      code: 'value_rules',
      message: `HubSpot checks the values of ${entity}.${propertyName} (${all.map(({ ruleType }) => ruleType).join(', ')})`,
      todo: 'Nothing: a value that breaks the rule is left out of the record. Loosen the rule to have it.',
    })),
  ]
}

/** Rules that cannot be read count as none: the values are then checked when they are written. */
async function readRules(
  api: HubspotApi,
  entity: string,
): Promise<{ propertyName: string; propertyValidationRules: { ruleType: string }[] }[]> {
  try {
    const answer = await api.call(validationsSchema, { method: 'GET', path: paths.validations(entity) })
    if (!answer.ok) return []
    return answer.data.results.filter(({ propertyValidationRules }) => propertyValidationRules.length > 0)
  } catch (error) {
    if (error instanceof PaydirtError) return []
    throw error
  }
}
