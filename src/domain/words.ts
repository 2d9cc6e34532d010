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

/** The work of a task: its record is filled, or made from a row of a list. */
export type TaskKind = 'enrich' | 'create'

export const openTaskStatuses = ['queued', 'looking_up', 'ready'] as const satisfies TaskStatus[]

/**
 * The kind of an operation of the service. Only lookups are steps of recipes. `lookup`: the answer is about one record. `search`: pages of rows. `read`: one document. `action`: changes something at the
 * service. `account`: the workspace of the API key.
 */
export type OperationKind = 'lookup' | 'search' | 'read' | 'action' | 'account'

/** Every operation of the service. `operations.ts` has one row of facts about each, `src/service/catalogue` its wire. */
export const operations = [
  'company.profile',
  'person.profile',
  'company.logo',
  'contact.lookup',
  'contact.redeem',
  'company.lookup',
  'company.enrich',
  'account.profile',
  'person.lookup',
  'people.search',
  'people.similar',
  'company.search',
  'company.similar',
  'job.search',
  'news.search',
  'advertisement.search',
  'cloud.search',
  'expansion.search',
  'expansion.lookup',
  'expansion.signals',
  'hiring.insights',
  'news.insights',
  'advertisement.insights',
  'cloud.insights',
  'expansion.detail',
  'expansion.compare',
  'expansion.summary',
  'expansion.rankings',
  'monitor.list',
  'monitor.read',
  'monitor.create',
  'monitor.update',
  'monitor.delete',
  'monitor.statistics',
  'monitor.charts',
  'monitor.logs',
  'monitor.validate',
  'monitor.test',
  'monitor.interpret',
  'template.types',
  'template.create',
  'template.delete',
  'account.usage',
] as const
export type Operation = (typeof operations)[number]

/** The network's word in the vocabulary of this code. Only the transport replaces it by another. */
export const networkWord = 'profnet'

export const verdicts = [
  'new',
  'exists',
  'ambiguous',
  'possible',
  'duplicate',
  'suppressed',
  'excluded',
  'incomplete',
  'drifted',
] as const
/**
 * The place of a list's row in the CRM. `new`: no record is like it. `exists`: it is this record. `ambiguous`: it may be one of several, or
 * of another. `possible`: a record has its name and nothing else of it. `duplicate`: it is another row of the list. `drifted`: it
 * cannot be told from others, because the answer is not as the catalogue says.
 */
export type Verdict = (typeof verdicts)[number]

/** The name, among connectors, of the source whose records are rows of a list that are not yet records of a CRM. No registry has it. */
export const rowsOfLists = 'list'
