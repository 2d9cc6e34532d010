import { AsyncLocalStorage } from 'node:async_hooks'

/** Names of the work in hand. Never a key or a value of a record: those are personal data. */
export interface LogFields {
  runId?: string
  /** The first of several runs whose records are written together. */
  runIds?: readonly string[]
  /** Digest of the lookup's key, the same as the id of its job. */
  lookup?: string
  connector?: string
  entity?: string
}

const scopes = new AsyncLocalStorage<LogFields>()

/** Runs `work` so that every log line written in it carries these fields. */
export function withLogFields<T>(fields: LogFields, work: () => T): T {
  return scopes.run({ ...scopes.getStore(), ...fields }, work)
}

/** Returns the fields of the work in hand; none outside of `withLogFields`. */
export function logFields(): LogFields {
  return scopes.getStore() ?? {}
}

/** Adds fields that became known while the work is done; nothing outside of `withLogFields`. */
export function addLogFields(fields: LogFields): void {
  const scope = scopes.getStore()
  if (scope) Object.assign(scope, fields)
}
