/** The kinds of record that Paydirt enriches, whatever a CRM calls them (Account, contact, lead ...). */
export const objectKinds = ['company', 'person'] as const
export type ObjectKind = (typeof objectKinds)[number]

/** The life of a record in a run. All but the first three are final; `parked` goes on by itself or after somebody acts. */
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

/** What a unit of work asks the service for. `operations.ts` has one row of facts about each. */
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

/** The network's word in the vocabulary of this code; the transport alone may put another in its place. */
export const networkWord = 'profnet'
