import { describe, expect, test } from 'vitest'
import type { FieldRule } from '../../domain/field-policy/field-policy.ts'
import { ruleOf, type Policies } from './policies.ts'

describe('the rule of a field', () => {
  test.each<[string, Policies, string, FieldRule, string?]>([
    ['nothing is said', {}, 'industry', 'fill_blank'],
    ['a default is said', { default: 'overwrite' }, 'industry', 'overwrite'],
    ['it is observed', {}, 'signal_score', 'overwrite_ours'],
    ['it is observed of a person', {}, 'left_company_at', 'overwrite_ours'],
    ['it is observed, under a default', { default: 'fill_blank' }, 'expansion_stage', 'overwrite_ours'],
    [
      'it is observed, under the default of a CRM',
      { hubspot: { default: 'overwrite' } },
      'advertising',
      'overwrite_ours',
    ],
    ['it is observed and named', { hubspot: { signal_score: 'fill_blank' } }, 'signal_score', 'fill_blank'],
    ['it is observed, and nothing may be written', { default: 'never' }, 'signal_score', 'never'],
    ['enrichment fills it', {}, 'open_jobs', 'fill_blank', 'sync'],
    ['a pipeline of signals fills it', {}, 'open_jobs', 'overwrite_ours', 'signals'],
    [
      'a pipeline fills it, and it is named',
      { hubspot: { open_jobs: 'never' } },
      'open_jobs',
      'never',
      'signals',
    ],
    ['no pipeline keeps it', {}, 'industry', 'fill_blank', 'signals'],
  ])('where %s', (_, policies, field, rule, trigger) => {
    expect(ruleOf(policies, 'hubspot', field, trigger)).toBe(rule)
  })
})
