/**
 * Turns the server's answers into text. Independent of the platform: the component passes in Apex.
 *
 * @typedef {'queued' | 'looking_up' | 'ready' | 'written' | 'unchanged' | 'skipped' | 'rejected' | 'parked'} TaskStatus
 * @typedef {{ name: string, label: string, value: string }} Row
 * @typedef {{ label: string, reason: string }} LeftOut a field for which nothing was bought, and why
 * @typedef {{ status: TaskStatus, reason: string, fields: Row[], leftOut?: LeftOut[], costUsd: string, enrichedAt: string }} Result
 * @typedef {Result & { taskId: string, done: boolean }} Answer
 */

/** @type {Record<TaskStatus, string>} */
export const statusLabels = {
  queued: 'Queued',
  looking_up: 'Looking up',
  ready: 'Writing to Salesforce',
  written: 'Fields filled',
  unchanged: 'No changes',
  skipped: 'Skipped',
  rejected: 'Rejected',
  parked: 'Parked',
}

/** @type {Record<TaskStatus, string>} */
const next = {
  queued: 'Enrichment continues in the background; you can close this window.',
  looking_up: 'Enrichment continues in the background; you can close this window.',
  ready: 'Enrichment continues in the background; you can close this window.',
  written: 'The fields above were written to the record. Values that you change by hand are kept.',
  unchanged:
    'The record already has everything that was found. Enriching again is free while the answer is fresh.',
  skipped: 'This record was not enriched. If you did not expect that, ask your Paydirt operator.',
  rejected:
    'Add a website, an e-mail address, a phone number or the profile URL to the record, then click Enrich again.',
  parked:
    'Enrichment resumes when the reason no longer applies: a daily cap resets at midnight UTC, a stop ends when an operator resumes spending.',
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
 * @returns {Row[]} the rows that the window shows for a result, in order
 */
export function rowsOf({ reason, fields, leftOut = [], costUsd, enrichedAt }) {
  const notBought = leftOut.map((field) => `${field.label} (${field.reason})`).join(', ')
  return [
    ...(reason ? [{ name: 'reason', label: 'Reason', value: reason }] : []),
    ...fields.map((field) => ({ ...field, value: field.value === '' ? 'cleared' : field.value })),
    { name: 'cost', label: 'Cost', value: costText(costUsd) },
    ...(notBought ? [{ name: 'left-out', label: 'Not bought', value: notBought }] : []),
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
  if (typeof taskId !== 'string' || typeof done !== 'boolean') throw invalidAnswer()
  return { ...readResult(document), taskId, done }
}

/**
 * @param {unknown} document
 * @returns {Result | undefined} the last result of a record; undefined if it was never enriched
 */
export function readLast(document) {
  if (!isObject(document)) throw invalidAnswer()
  return isObject(document.last) ? readResult(document.last) : undefined
}

/**
 * @param {unknown} document
 * @returns {Result}
 */
function readResult(document) {
  const { status, reason, fields, leftOut, costUsd, enrichedAt } = isObject(document) ? document : {}
  if (!isStatus(status) || typeof costUsd !== 'string') throw invalidAnswer()
  return {
    status,
    reason: text(reason),
    fields: (Array.isArray(fields) ? fields : []).filter(isObject).map(({ name, label, value }) => ({
      name: text(name),
      label: text(label ?? name),
      value: text(value),
    })),
    leftOut: (Array.isArray(leftOut) ? leftOut : []).filter(isObject).map(({ label, reason: why }) => ({
      label: text(label),
      reason: text(why),
    })),
    costUsd,
    enrichedAt: text(enrichedAt),
  }
}

/** Apex hides the status of a response, so a restart cannot be told from a refusal. A restart is over after this many tries. */
const mostFailuresInARow = 4

/**
 * Polls a task until it is done, at growing intervals, for at most five minutes; the task itself continues. Tolerates a few
 * failures in a row.
 *
 * @param {object} options
 * @param {Answer} options.first
 * @param {(taskId: string) => Promise<Answer>} options.ask
 * @param {(answer: Answer) => void} options.onAnswer
 * @param {(ms: number) => Promise<boolean>} options.pause resolves to false when the window was closed
 * @returns {Promise<Answer>}
 */
export async function follow({ first, ask, onAnswer, pause }) {
  // Each question waits for the answer before it.
  /* eslint-disable no-await-in-loop */
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
 * @returns {'left' | 'idle'} `left` when a task was being followed, so that the user can check again
 */
export function phaseAfterFailure(phase) {
  return phase === 'following' ? 'left' : 'idle'
}

/**
 * @param {unknown} error what Apex threw, or a fault of this window
 * @returns {string} what went wrong and what to do
 */
export function problemText(error) {
  const body = isObject(error) ? error.body : undefined
  if (isObject(body) && typeof body.message === 'string') return body.message
  return error instanceof Error ? error.message : 'An error occurred. Close this window and try again.'
}

function invalidAnswer() {
  return new Error(
    'This window does not understand the response of Paydirt. Ask an administrator to deploy the version of the package that matches the server.',
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
