import type { SalesforceType } from '../schema.ts'
import { readField, type FieldValue, type SalesforceRecord, type SalesforceStore } from '../store.ts'

type Values = Readonly<Record<string, FieldValue>>

/**
 * Returns the records that the org's duplicate rules find for a new one, after the standard rules of a new org (Salesforce Help,
 * "Standard Duplicate Rules"): leads are compared with leads and contacts, contacts with contacts, accounts with accounts. The
 * matching here is exact where the real one is fuzzy.
 */
export function findDuplicates(
  store: SalesforceStore,
  type: SalesforceType,
  values: Values,
): SalesforceRecord[] {
  const compared: SalesforceType[] = type === 'Lead' ? ['Lead', 'Contact'] : [type]
  return compared.flatMap((other) =>
    [...store.list(other)].filter(
      (record) => record.deletedAtMs === undefined && isDuplicate(type, values, record),
    ),
  )
}

function isDuplicate(type: SalesforceType, values: Values, record: SalesforceRecord): boolean {
  const isSame = (field: string): boolean => {
    const [mine, theirs] = [values[field], readField(record, field)]
    return typeof mine === 'string' && typeof theirs === 'string' && folded(mine) === folded(theirs)
  }
  if (type === 'Account') return isSame('Name') && ['Website', 'Phone', 'BillingCity'].some(isSame)
  return isSame('Email')
}

function folded(text: string): string {
  return text
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/^www\./, '')
    .replace(/\/+$/, '')
}

/**
 * Returns the part of an error that names the matches, as the resources for a single record answer it. The key is spelled
 * `duplicateResut` there: so in every recorded answer from version 50.0 to 56.0; some code has met `duplicateResult` too. The
 * answer for a collection has only code and message (github.com/jetstreamapp/jetstream, issue 482).
 */
export function duplicateResult(
  type: SalesforceType,
  matches: readonly SalesforceRecord[],
  version: string,
): object {
  return {
    duplicateResut: {
      allowSave: true,
      duplicateRule: `Standard_${type}_Duplicate_Rule`,
      duplicateRuleEntityType: type,
      errorMessage: duplicateMessage,
      matchResults: [...Map.groupBy(matches, (match) => match.type)].map(([entityType, records]) => ({
        entityType,
        errors: [],
        matchEngine: 'FuzzyMatchEngine',
        matchRecords: records.map(({ id }) => ({
          additionalInformation: [],
          fieldDiffs: [],
          matchConfidence: 100,
          record: {
            attributes: {
              type: entityType,
              url: `/services/data/v${version}/sobjects/${entityType}/${id}`,
            },
            Id: id,
          },
        })),
        rule: `Standard_${entityType}_Match_Rule_v1_1`,
        size: records.length,
        success: true,
      })),
    },
  }
}

export const duplicateMessage = 'Use one of these records?'
