/** A forced misbehaviour of the next requests that match. Taken in the order of injection. */
interface InjectedFault {
  /** `answer` replaces the response; `drop` cuts the connection; `drop-after` handles the request first, then cuts. */
  readonly kind: 'answer' | 'drop' | 'drop-after'
  readonly status?: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** How many requests it takes. Default 1. */
  readonly times?: number
  readonly method?: string
  readonly path?: RegExp
}

/** Standing switches, each with the real account's behaviour as its default. */
interface HubspotSwitches {
  /** Search sees a change only after this time. */
  indexLagMs: number
  /** A JSON null for a property answers success and clears nothing, or is refused with 400. */
  nullValues: 'ignored' | 'refused'
  /** One invalid record refuses the whole batch with 400, or fails alone in a 207. */
  batchErrors: 'whole' | 'each'
  /** Reserved top-level domains that e-mail addresses may have all the same. None in a real account. */
  acceptedTlds: Set<string>
  /** Records for which every write answers an error of their own in a 207, with the given category. */
  failingRecords: Map<string, { readonly category: string; readonly message: string }>
}

export interface HubspotFaults extends HubspotSwitches {
  inject(fault: InjectedFault): void
  /** The next `times` calls answer 423 Locked, as after a burst of writes on the same records. */
  lock(times?: number): void
  /** The next `times` calls answer 477, as while an account moves between data centres. */
  migrate(retryAfterSeconds: number, times?: number): void
  /** The next `times` calls answer 429 under the named policy, whatever the counters say. */
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
  }
}
