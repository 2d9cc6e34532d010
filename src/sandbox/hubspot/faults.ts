import type { HubspotType } from './properties.ts'
import type { RequiredRule } from './required.ts'

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

/** Permanent switches. The default of each is the real account's behaviour. */
interface HubspotSwitches {
  /** Search sees a change only after this time. */
  indexLagMs: number
  /** A JSON null for a property either succeeds and clears nothing, or is refused with 400. */
  nullValues: 'ignored' | 'refused'
  /** One invalid record either fails the whole batch with 400, or only itself in a 207. */
  batchErrors: 'whole' | 'each'
  /** Reserved top-level domains that are still accepted in e-mail addresses. A real account accepts none. */
  acceptedTlds: Set<string>
  /** Records for which every write returns an error of their own in a 207, with the given category. */
  failingRecords: Map<string, { readonly category: string; readonly message: string }>
  /** Conditional required properties, as an administrator sets them up. No call of the API lists them. */
  required: RequiredRule[]
  /** Rules for the values of properties, as `/crm/property-validations` lists them; of these only MAX_LENGTH is enforced. */
  validations: { type: HubspotType; property: string; ruleType: string; ruleArguments: string[] }[]
}

export interface HubspotFaults extends HubspotSwitches {
  inject(fault: InjectedFault): void
  /** Makes the next `times` calls return 423 Locked, as after a burst of writes on the same records. */
  lock(times?: number): void
  /** Makes the next `times` calls return 477, as while an account moves between data centres. */
  migrate(retryAfterSeconds: number, times?: number): void
  /** Makes the next `times` calls return 429 under the named policy, whatever the counters say. */
  limit(policyName: 'DAILY' | 'TEN_SECONDLY_ROLLING' | 'SECONDLY', times?: number): void
  take(method: string, path: string): InjectedFault | undefined
  clear(): void
}

export function createHubspotFaults(): HubspotFaults {
  let queue: { fault: InjectedFault; left: number }[] = []
  const inject = (fault: InjectedFault): void => {
    queue.push({ fault, left: fault.times ?? 1 })
  }
  const faults: HubspotFaults = {
    ...defaults(),
    inject,
    lock: (times = 1) =>
      inject({
        kind: 'answer',
        status: 423,
        times,
        body: {
          status: 'error',
          message: 'The resource is locked. Try again in a few seconds.',
          category: 'LOCKED',
        },
      }),
    migrate: (retryAfterSeconds, times = 1) =>
      inject({
        kind: 'answer',
        status: 477,
        times,
        headers: { 'retry-after': String(retryAfterSeconds) },
        body: { status: 'error', message: 'Migration in progress', category: 'MIGRATION_IN_PROGRESS' },
      }),
    limit: (policyName, times = 1) => inject({ kind: 'answer', status: 429, times, body: { policyName } }),
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
      Object.assign(faults, defaults())
    },
  }
  return faults
}

function defaults(): HubspotSwitches {
  return {
    indexLagMs: 0,
    nullValues: 'ignored',
    batchErrors: 'whole',
    acceptedTlds: new Set(),
    failingRecords: new Map(),
    required: [],
    validations: [],
  }
}
