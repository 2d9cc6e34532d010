import { validationError, type HubspotError } from './errors.ts'
import type { HubspotType } from './properties.ts'

/** An administrator's rule: while `when` has one of the values, `property` must not be blank. */
export interface RequiredRule {
  readonly type: HubspotType
  readonly property: string
  readonly when: { readonly property: string; readonly is: readonly string[] }
}

/**
 * Returns the refusal of a write after which a record would break a rule, also where the write touches neither of the
 * two properties. Version 2026-09 enforces these rules, earlier versions do not.
 */
export function refuseRequired(
  rules: readonly RequiredRule[],
  type: HubspotType,
  after: Readonly<Record<string, string>>,
): HubspotError | undefined {
  const broken = rules.filter(
    (rule) =>
      rule.type === type && rule.when.is.includes(after[rule.when.property] ?? '') && !after[rule.property],
  )
  if (broken.length === 0) return undefined
  return validationError('The property values provided are invalid', {
    errors: broken.map(({ property, when }) => ({
      code: 'MISSING_CONDITIONAL_REQUIRED_PROPERTY',
      message: `${property} is required because of a conditional property rule based on [${when.property}]`,
      context: { propertyName: [property] },
    })),
  })
}
