import { createInjectedFaults, type InjectedFaults } from '../crm/injected-faults.ts'
import type { HubspotType } from './properties.ts'
import type { RequiredRule } from './required.ts'

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

export interface HubspotFaults extends HubspotSwitches, InjectedFaults {
  /** Makes the next `times` calls return 423 Locked, as after a burst of writes on the same records. */
  lock(times?: number): void
  /** Makes the next `times` calls return 477, as while an account moves between data centres. */
  migrate(retryAfterSeconds: number, times?: number): void
  /** Makes the next `times` calls return 429 under the named policy, whatever the counters say. */
  limit(policyName: 'DAILY' | 'TEN_SECONDLY_ROLLING' | 'SECONDLY', times?: number): void
}

export function createHubspotFaults(): HubspotFaults {
  const injected = createInjectedFaults()
  const { inject } = injected
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
    take: injected.take,
    clear() {
      injected.clear()
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
