import { z } from 'zod'
import { connectorNames, type ConnectorName } from '../../connectors/definitions.ts'
import { fieldNames } from '../../domain/fields.ts'
import { fieldRules, type FieldRule } from '../../domain/field-policy/field-policy.ts'
import { meantBy } from './describe-issues.ts'

const rule = z.enum(fieldRules)
const known = new Set([...fieldNames('company'), ...fieldNames('person')])
/** Rules by field; `default` applies to all others. */
const rulesOf = z.record(z.string(), rule).superRefine((rules, context) => {
  for (const field of Object.keys(rules)) {
    if (field === 'default' || known.has(field)) continue
    context.addIssue({
      code: 'custom',
      path: [field],
      message: `is not a field that paydirt writes; ${meantBy(field, [...known])}`,
    })
  }
})

const rulesOfConnectors = Object.fromEntries(
  connectorNames.map((name) => [name, rulesOf.optional()]),
) as Record<ConnectorName, z.ZodOptional<typeof rulesOf>>

/** `{ default: 'fill_blank', hubspot: { industry: 'overwrite_ours' } }` */
export const policiesSchema = z.strictObject({
  default: rule.optional(),
  ...rulesOfConnectors,
})

/** How long answers are stored. */
export const retentionSchema = z.strictObject({
  /** Answers older than this are erased. They are bought again when a run needs them. */
  answersDays: z.number().min(1).max(3650).optional(),
})

export type Policies = z.output<typeof policiesSchema>

/** Returns the rule for a field: the connector's own, its default, the general default, or `fill_blank`. */
export function ruleOf(policies: Policies, connector: string, field: string): FieldRule {
  const own = Object.hasOwn(policies, connector) ? policies[connector as keyof Policies] : undefined
  const rules = typeof own === 'object' ? own : {}
  const named = Object.hasOwn(rules, field) ? rules[field] : undefined
  return named ?? rules['default'] ?? policies.default ?? 'fill_blank'
}
