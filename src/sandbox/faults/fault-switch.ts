import { fraction } from '../random.ts'
import type { FaultName, Faults, FaultsInput } from './faults.ts'
import { faultsSchema } from './faults.ts'

export interface FaultSwitch {
  /** Returns the current faults, with the remaining count of each `next`. */
  get(): Faults
  /** Replaces the given entries and keeps the others. Throws a ZodError and changes nothing if one is invalid. */
  set(change: FaultsInput): Faults
  /** Returns to the faults of the start: a stand-in that began with answers kept by payment id keeps them on. */
  reset(): Faults
  /**
   * Returns the fault if it hits this request, otherwise null. Shares depend on the seed, the fault, the requested key
   * and how often it was requested before, not on the order in which concurrent requests arrive.
   */
  strikes<N extends FaultName>(name: N, key: string): Faults[N] | null
  readonly current: Readonly<Faults>
}

export function createFaultSwitch(initial: FaultsInput = {}): FaultSwitch {
  let faults = faultsSchema.parse(initial)
  let asked = new Map<string, number>()

  function replace(next: Faults) {
    if (next.seed !== faults.seed) asked = new Map()
    faults = next
    return structuredClone(faults)
  }

  return {
    get: () => structuredClone(faults),
    set: (change) => replace(faultsSchema.parse({ ...faults, ...withoutUndefined(change) })),
    reset: () => {
      asked = new Map()
      return replace(faultsSchema.parse(initial))
    },
    strikes(name, key) {
      const fault = faults[name] as Faults[typeof name] & { next: number; share: number }
      if (fault.next > 0) {
        fault.next -= 1
        return fault
      }
      if (fault.share === 0) return null
      const counter = `${name} ${key}`
      const times = asked.get(counter) ?? 0
      asked.set(counter, times + 1)
      return fraction(`${faults.seed} ${counter} ${times}`) < fault.share ? fault : null
    },
    get current() {
      return faults
    },
  }
}

function withoutUndefined<T extends object>(change: T) {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
}
