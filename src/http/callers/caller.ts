import type { ApiToken } from '../../store/access/api-tokens.ts'
import { Problem } from '../server/problem.ts'

/** Who was let in. `name` may be logged: it names a system or a token, never a person. */
export type Caller =
  | { kind: 'anybody'; name: string }
  | { kind: 'token'; name: string; token: ApiToken }
  | {
      kind: 'system'
      name: 'hubspot' | 'salesforce' | 'monitor'
      /** The answer was a fault of ours: the caller may come again with the same signature. */
      giveBack?: () => Promise<void>
    }

/** A call that is not let in. It is counted under its code. */
export class CallRefused extends Problem {}

export function refuse(code: string, detail: string, status: 401 | 403 | 404 = 401): CallRefused {
  return new CallRefused(status, code, detail)
}
