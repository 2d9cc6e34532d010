/** The kinds of record that Paydirt enriches. CRMs have their own names for them (Account, contact, lead ...). */
export const objectKinds = ['company', 'person'] as const
export type ObjectKind = (typeof objectKinds)[number]

/**
 * The states of a record in a run. The first three are open, `parked` continues by itself or after a person acts, and the
 * others are final.
 */
export const taskStatuses = [
  'queued',
  'looking_up',
  'ready',
  'written',
  'unchanged',
  'skipped',
  'rejected',
  'parked',
] as const
export type TaskStatus = (typeof taskStatuses)[number]

export const openTaskStatuses = ['queued', 'looking_up', 'ready'] as const satisfies TaskStatus[]

/** The kinds of lookup. `operations.ts` has one row of facts about each. */
export const operations = [
  'company.profile',
  'person.profile',
  'company.logo',
  'contact.lookup',
  'contact.redeem',
  'company.lookup',
  'company.enrich',
  'account.profile',
] as const
export type Operation = (typeof operations)[number]

/** The network's word in the vocabulary of this code. Only the transport replaces it by another. */
export const networkWord = 'profnet'
