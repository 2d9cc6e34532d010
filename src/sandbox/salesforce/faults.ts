import { createInjectedFaults, type InjectedFaults } from '../crm/injected-faults.ts'
import type { SalesforceType } from './schema.ts'
import type { FieldValue } from './store.ts'
import { toLongId } from './ids.ts'

/** A validation rule of the org: a check of the changed record, and the message of its refusal. */
interface ValidationRule {
  readonly type: SalesforceType
  readonly field?: string
  readonly message: string
  readonly refuses: (values: Readonly<Record<string, FieldValue>>) => boolean
}

/** Permanent switches. The default of each is the usual org's behaviour. */
interface SalesforceSwitches {
  validationRules: ValidationRule[]
  /** An e-mail that is changed to one of another record of the object is refused unless the header allows it. */
  hasDuplicateRules: boolean
  /** A lead rule is active: an update assigns the lead to the queue unless `Sforce-Auto-Assign: FALSE` is sent. */
  hasLeadAssignment: boolean
  /** Records that the user may read but not write. */
  readOnlyRecords: Set<string>
  /** An unknown field either fails the whole request or only its record. */
  unknownField: 'request' | 'record'
  /** A write keeps its rows locked for this long. Zero: until the next tick of the event loop. */
  lockHoldMs: number
  /** Number of polls that see a bulk job in progress before it is done. */
  bulkPolls: number
}

export interface SalesforceFaults extends SalesforceSwitches, InjectedFaults {
  /** Makes the next `times` writes of each of these records return UNABLE_TO_LOCK_ROW. */
  lockRows(ids: readonly string[], times?: number): void
  takeRowLock(id: string): boolean
}

export function createSalesforceFaults(): SalesforceFaults {
  const injected = createInjectedFaults()
  const rowLocks = new Map<string, number>()
  const faults: SalesforceFaults = {
    ...defaults(),
    inject: injected.inject,
    lockRows(ids, times = 1) {
      for (const id of ids) rowLocks.set(toLongId(id), times)
    },
    takeRowLock(id) {
      const left = rowLocks.get(id) ?? 0
      if (left > 1) rowLocks.set(id, left - 1)
      else rowLocks.delete(id)
      return left > 0
    },
    take: injected.take,
    clear() {
      injected.clear()
      rowLocks.clear()
      Object.assign(faults, defaults())
    },
  }
  return faults
}

function defaults(): SalesforceSwitches {
  return {
    validationRules: [],
    hasDuplicateRules: true,
    hasLeadAssignment: false,
    readOnlyRecords: new Set(),
    unknownField: 'request',
    lockHoldMs: 0,
    bulkPolls: 1,
  }
}
