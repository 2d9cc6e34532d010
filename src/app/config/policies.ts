import { z } from 'zod'
import { connectorNames, definitionOf, type ConnectorName } from '../../connectors/definitions.ts'
import { fieldNames, observedFieldNames, signalFieldNames } from '../../domain/fields.ts'
import { fieldRules, type FieldRule } from '../../domain/field-policy/field-policy.ts'
import { ofType, setting } from '../../domain/setting.ts'
import { meantBy } from './describe-issues.ts'

const rule = z.enum(fieldRules)
const known = new Set([...fieldNames('company'), ...fieldNames('person')])
/** Rules by field; `default` applies to all others. */
const rulesOf = ofType(
  'policy by field',
  z.record(z.string(), rule).superRefine((rules, context) => {
    for (const field of Object.keys(rules)) {
      if (field === 'default' || known.has(field)) continue
      context.addIssue({
        code: 'custom',
        path: [field],
        message: `is not a field that paydirt writes; ${meantBy(field, [...known])}`,
      })
    }
  }),
)

const rulesOfConnectors = Object.fromEntries(
  connectorNames.map((name) => [
    name,
    setting(rulesOf, {
      means: `field policies of ${definitionOf(name).label}, by [field](#fields); \`default\` is for all others`,
      defaultText: '`policies.default`',
      example: { default: 'fill_blank', industry: 'overwrite_ours' },
    }),
  ]),
) as Record<ConnectorName, z.ZodOptional<typeof rulesOf>>

/** `{ default: 'fill_blank', hubspot: { industry: 'overwrite_ours' } }` */
export const policiesSchema = z.strictObject({
  default: setting(rule, {
    means:
      'the [field policy](crm.md#what-may-be-written) of all fields; what is [observed](crm.md#observed-fields) has one of its own',
    default: 'fill_blank',
    example: 'overwrite_ours',
  }),
  ...rulesOfConnectors,
})

/** The time that rows of the ledger are stored; docs/operations.md has the tables. */
export const retentionSchema = z.strictObject({
  answersDays: setting(z.number().min(1).max(3650), {
    means: 'answers older than so many days are erased, and bought again when a run needs them',
    defaultText: 'kept for ever',
    example: 365,
  }),
  signalsDays: setting(z.number().min(60).max(3650), {
    means:
      '[signals](signals.md) that were seen last so many days ago are deleted, and scores of such days; what still goes on stays',
    default: 400,
    example: 800,
  }),
  recordsDays: setting(z.number().min(90).max(3650), {
    means:
      'what was done with records so many days ago is [erased](operations.md#retention): tasks, values that were written, lookups, plans, notes, matches, reviews. Amounts stay. It cannot be undone or explained any more',
    defaultText: 'kept for ever',
    example: 730,
  }),
  messagesDays: setting(z.number().min(60).max(3650), {
    means: 'alerts, callbacks, refused calls and times of schedules that ended so many days ago are deleted',
    default: 400,
    example: 180,
  }),
  auditDays: setting(z.number().min(60).max(3650), {
    means:
      'entries of the audit log older than so many days are deleted; the newest of each kind stays without a name',
    defaultText: 'kept for ever',
    example: 1095,
  }),
})

export type Policies = z.output<typeof policiesSchema>

const observed: ReadonlySet<string> = new Set([
  ...observedFieldNames('company'),
  ...observedFieldNames('person'),
])
const bySignals: ReadonlySet<string> = new Set(signalFieldNames)

/**
 * Returns the rule for a field: the connector's own, its default, the general default, or `fill_blank`. What is observed over
 * time would stand still for ever under `fill_blank`: unless the field itself is named, or nothing is to be written at all, it
 * is `overwrite_ours`. `open_jobs` is observed where a pipeline of signals writes it; company enrichment fills it as any other.
 */
export function ruleOf(
  policies: Policies,
  connector: string,
  field: string,
  trigger?: string | undefined,
): FieldRule {
  const own = Object.hasOwn(policies, connector) ? policies[connector as keyof Policies] : undefined
  const rules = typeof own === 'object' ? own : {}
  const named = Object.hasOwn(rules, field) ? rules[field] : undefined
  const usual = rules['default'] ?? policies.default ?? 'fill_blank'
  if (named !== undefined || usual === 'never') return named ?? usual
  return observed.has(field) || (trigger === 'signals' && bySignals.has(field)) ? 'overwrite_ours' : usual
}
