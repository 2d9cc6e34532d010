import type { championFieldNames, signalFieldNames } from '../../src/domain/fields.ts'
import type { FieldType } from '../../src/domain/mapping/mapping.ts'
import type { FieldValue } from '../../src/domain/record.ts'
import type { ConnectorSuiteOptions } from './connector-stage.ts'

const left: Record<(typeof championFieldNames)[number], { set: FieldValue; type: FieldType }> = {
  left_company_at: { set: '2026-10-31', type: 'date' },
  former_record: { set: '003000000000001AAA', type: 'text' },
  champion_relationship: { set: 'Former customer', type: 'text' },
}

/** Returns a value of each observed field of an object, with the type of its place; a flag's differs between CRMs. */
export function observedValues(
  object: 'company' | 'person',
  flag: FieldType,
): ConnectorSuiteOptions['observed'] {
  if (object === 'person') return left
  const values: Record<(typeof signalFieldNames)[number], { set: FieldValue; type: FieldType }> = {
    expansion_stage: { set: 'Committing', type: 'text' },
    expansion_direction: { set: 'retreating', type: 'text' },
    expansion_markets: { set: 'Spain; Portugal', type: 'text' },
    open_jobs: { set: 0, type: 'number' },
    open_jobs_change_30d: { set: -12, type: 'number' },
    last_news_at: { set: '2026-11-22', type: 'date' },
    last_news_title: { set: 'Norvik opens in Madrid — “soon”', type: 'text' },
    advertising: { set: false, type: flag },
    cloud_providers: { set: 'AWS; Azure', type: 'text' },
    signal_score: { set: 41.25, type: 'number' },
    signal_score_change_7d: { set: -0.5, type: 'number' },
    signal_reason: { set: 'Hires in sales in Spain (+20)', type: 'text' },
    // Salesforce keeps whole seconds.
    signals_checked_at: { set: '2026-11-23T23:59:59.987Z', type: 'datetime' },
  }
  return values
}
