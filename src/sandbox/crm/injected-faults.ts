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

export interface InjectedFaults {
  inject(fault: InjectedFault): void
  /** Returns the first fault for such a request, and counts the request; undefined where there is none. */
  take(method: string, path: string): InjectedFault | undefined
  clear(): void
}

export function createInjectedFaults(): InjectedFaults {
  let queue: { fault: InjectedFault; left: number }[] = []
  return {
    inject(fault) {
      queue.push({ fault, left: fault.times ?? 1 })
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
    },
  }
}
