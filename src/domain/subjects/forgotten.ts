import type { LookupKey } from '../keys.ts'

const mark = 'forgotten:'

/** Returns the key of a lookup whose subject was forgotten: its operation, and a random token. */
export function forgottenKey(key: LookupKey, token: string): LookupKey {
  return `${key.slice(0, key.indexOf('|'))}|${mark}${token}` as LookupKey
}

/** Returns the id that a record of a CRM has in the ledger when its subject was forgotten. */
export function forgottenRecord(token: string): string {
  return `${mark}${token}`
}

/** True for a record that no CRM can be asked for any more. */
export function isForgottenRecord(id: string): boolean {
  return id.startsWith(mark)
}
