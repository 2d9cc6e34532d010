import type { SalesforceType } from './schema.ts'
import type { FieldValue } from './store.ts'
import { toLongId } from './ids.ts'

/** A forced fault for the next matching requests. Faults are taken in the order of injection. */
interface InjectedFault {
  /** `answer` replaces the response; `drop` cuts the connection; `drop-after` handles the request first, then cuts. */
  readonly kind: 'answer' | 'drop' | 'drop-after'
  readonly status?: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Number of requests that it affects. Default 1. */
  readonly times?: number
  readonly method?: string
  readonly path?: RegExp
}

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

export interface SalesforceFaults extends SalesforceSwitches {
  inject(fault: InjectedFault): void
  /** Makes the next `times` writes of each of these records return UNABLE_TO_LOCK_ROW. */
  lockRows(ids: readonly string[], times?: number): void
  takeRowLock(id: string): boolean
  take(method: string, path: string): InjectedFault | undefined
  clear(): void
}

export function createSalesforceFaults(): SalesforceFaults {
  let queue: { fault: InjectedFault; left: number }[] = []
  const rowLocks = new Map<string, number>()
  const faults: SalesforceFaults = {
    ...defaults(),
    inject(fault) {
      queue.push({ fault, left: fault.times ?? 1 })
    },
    lockRows(ids, times = 1) {
      for (const id of ids) rowLocks.set(toLongId(id), times)
    },
    takeRowLock(id) {
      const left = rowLocks.get(id) ?? 0
      if (left > 1) rowLocks.set(id, left - 1)
      else rowLocks.delete(id)
      return left > 0
    },
    take(method, path) {
      const at = queue.findIndex(
        ({ fault }) => (!fault.method || fault.method === method) && (!fault.path || fault.path.test(path)),
      )
      const found = queue[at]
      if (!found) return undefined
      found.left -= 1
      if (found.left <= 0) queue.splice(at, 1)
      return found.fault
    },
    clear() {
      queue = []
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
