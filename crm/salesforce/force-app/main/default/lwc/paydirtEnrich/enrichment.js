/**
 * What the server says about a record, put into words. Without the platform: the component brings Apex with it.
 *
 * @typedef {'queued' | 'looking_up' | 'ready' | 'written' | 'unchanged' | 'skipped' | 'rejected' | 'parked'} TaskStatus
 * @typedef {{ name: string, label: string, value: string }} Row
 * @typedef {{ status: TaskStatus, reason: string, fields: Row[], costUsd: string, enrichedAt: string }} Result
 * @typedef {Result & { taskId: string, done: boolean }} Answer
 */

/** @type {Record<TaskStatus, string>} */
export const statusLabels = {
  queued: 'Waiting for its turn',
  looking_up: 'Looking up',
  ready: 'Writing to Salesforce',
  written: 'Fields filled',
  unchanged: 'Nothing to change',
  skipped: 'Skipped',
  rejected: 'Not possible',
  parked: 'Waiting',
}

/** @type {Record<TaskStatus, string>} */
const next = {
  queued: 'It goes on by itself; this window may be closed.',
  looking_up: 'It goes on by itself; this window may be closed.',
  ready: 'It goes on by itself; this window may be closed.',
  written: 'The fields above are in the record. A value that you change by hand stays as you leave it.',
  unchanged: 'The record has all that could be found. Asking again is free while the answer is fresh.',
  skipped: 'Nothing is done for this record. Ask whoever runs Paydirt if that surprises you.',
  rejected:
    'Give the record a website, an e-mail address, a phone number or its profile URL, and press Enrich again.',
  parked:
    'It goes on by itself when the reason is gone: a cap for the day ends at midnight, a stop when an operator ends it.',
}

/**
 * @param {Result} result
 * @returns {string} what happens next, or what to do
 */
export function nextText(result) {
  return next[result.status]
}

/**
 * @param {Result} result
 * @returns {Row[]} what the window lists of a result, in order
 */
export function rowsOf({ reason, fields, costUsd, enrichedAt }) {
  return [
    ...(reason ? [{ name: 'reason', label: 'Reason', value: reason }] : []),
    ...fields.map((field) => ({ ...field, value: field.value === '' ? 'cleared' : field.value })),
    { name: 'cost', label: 'Cost', value: costText(costUsd) },
    ...(enrichedAt ? [{ name: 'at', label: 'When', value: new Date(enrichedAt).toLocaleString() }] : []),
  ]
}

/**
 * @param {string} costUsd decimal string
 * @returns {string} such as `USD 0.01`, or `nothing`
 */
export function costText(costUsd) {
  if (!/[1-9]/.test(costUsd)) return 'nothing'
  const [whole, fraction = ''] = costUsd.split('.')
  return `USD ${whole}.${fraction.replace(/0+$/, '').padEnd(2, '0')}`
}

/**
 * @param {unknown} document
 * @returns {Answer}
 */
export function readAnswer(document) {
  const { taskId, done } = isObject(document) ? document : {}
  if (typeof taskId !== 'string' || typeof done !== 'boolean') throw notUnderstood()
  return { ...readResult(document), taskId, done }
}

/**
 * @param {unknown} document
 * @returns {Result | undefined} the last result of a record; undefined where it never was enriched
 */
export function readLast(document) {
  if (!isObject(document)) throw notUnderstood()
  return isObject(document['last']) ? readResult(document['last']) : undefined
}

/**
 * @param {unknown} document
 * @returns {Result}
 */
function readResult(document) {
  const { status, reason, fields, costUsd, enrichedAt } = isObject(document) ? document : {}
  if (!isStatus(status) || typeof costUsd !== 'string') throw notUnderstood()
  return {
    status,
    reason: text(reason),
    fields: (Array.isArray(fields) ? fields : []).filter(isObject).map(({ name, label, value }) => ({
      name: text(name),
      label: text(label ?? name),
      value: text(value),
    })),
    costUsd,
    enrichedAt: text(enrichedAt),
  }
}

/** Apex tells no status of an answer: a server that restarts is back by then, and what is refused stays so. */
const mostFailuresInARow = 4

/**
 * Asks after a task until it is done, ever less often, and gives up after five minutes: the task goes on without us. A few
 * questions may fail in a row.
 *
 * @param {object} options
 * @param {Answer} options.first
 * @param {(taskId: string) => Promise<Answer>} options.ask
 * @param {(answer: Answer) => void} options.onAnswer
 * @param {(ms: number) => Promise<boolean>} options.pause false when nobody looks any more
 * @returns {Promise<Answer>}
 */
export async function follow({ first, ask, onAnswer, pause }) {
  let answer = first
  let waitMs = 2_000
  let failures = 0
  for (let waitedMs = 0; !answer.done && waitedMs < 300_000;) {
    if (!(await pause(waitMs))) return answer
    waitedMs += waitMs
    waitMs = Math.min(waitMs * 1.5, 15_000)
    try {
      answer = await ask(answer.taskId)
    } catch (error) {
      failures += 1
      if (failures >= mostFailuresInARow) throw error
      continue
    }
    failures = 0
    onAnswer(answer)
  }
  return answer
}

/**
 * @param {string} phase in which it failed
 * @returns {'left' | 'idle'} where a task was followed it goes on, and somebody may look again
 */
export function phaseAfterFailure(phase) {
  return phase === 'following' ? 'left' : 'idle'
}

/**
 * @param {unknown} error what Apex threw, or a fault of this window
 * @returns {string} what went wrong and what to do
 */
export function problemText(error) {
  const body = isObject(error) ? error['body'] : undefined
  if (isObject(body) && typeof body['message'] === 'string') return body['message']
  return error instanceof Error ? error.message : 'Something went wrong. Close this window and try again.'
}

function notUnderstood() {
  return new Error(
    'Paydirt answered something that this window does not understand. An administrator deploys the package that belongs to the version of the server.',
  )
}

/**
 * @param {unknown} value
 * @returns {value is TaskStatus}
 */
function isStatus(value) {
  return typeof value === 'string' && Object.hasOwn(statusLabels, value)
}

/**
 * @param {unknown} value
 * @returns {value is Record<string, unknown>}
 */
function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** @param {unknown} value */
function text(value) {
  return value === null || value === undefined ? '' : String(value)
}
