/** The bounds of one connection. 0 seconds: none. */
export interface ConnectionLimits {
  statementSeconds: number
  lockSeconds: number
  idleInTransactionSeconds: number
}

export const noLimits: ConnectionLimits = { statementSeconds: 0, lockSeconds: 0, idleInTransactionSeconds: 0 }

/** The limits under the names of Postgres, in milliseconds. */
export function limitParameters(limits: ConnectionLimits) {
  return {
    statement_timeout: limits.statementSeconds * 1_000,
    lock_timeout: limits.lockSeconds * 1_000,
    idle_in_transaction_session_timeout: limits.idleInTransactionSeconds * 1_000,
  }
}

type LimitParameters = ReturnType<typeof limitParameters>

export const noParameters: LimitParameters = limitParameters(noLimits)

/** Returns what sets the limits for one transaction. In one text with its `begin` it costs no further round trip. */
export function setLocally(parameters: LimitParameters): string[] {
  return Object.entries(parameters).map(([name, value]) => `set local ${name} = ${value}`)
}

const current = (name: string) =>
  `(extract(epoch from current_setting('${name}')::interval) * 1000)::float8 as ${name}`

/** Asks a new connection whether it may write, which process of the server answers, and which limits are in force. */
export const sessionQuery = `select current_setting('transaction_read_only') = 'on' as read_only, pg_backend_pid() as backend, ${Object.keys(
  noParameters,
)
  .map(current)
  .join(', ')}`

export type SessionRow = { read_only: boolean; backend: number } & LimitParameters

export function hasLimits(row: SessionRow, wanted: LimitParameters): boolean {
  return (Object.keys(wanted) as (keyof LimitParameters)[]).every((name) => row[name] === wanted[name])
}
