/** The client of the Paydirt server. It has no imports and no state: the card and the bulk action pass in `hubspot.fetch`. */

export type TaskStatus =
  'queued' | 'looking_up' | 'ready' | 'written' | 'unchanged' | 'skipped' | 'rejected' | 'parked'

export interface FilledField {
  name: string
  label: string
  value: string
}

export interface LeftOutField {
  name: string
  label: string
  /** Why, in words. */
  reason: string
}

export interface Result {
  status: TaskStatus
  reason: string | null
  fields: FilledField[]
  /** Fields that could not be written: nothing was bought for them. Absent from older servers. */
  leftOut?: LeftOutField[]
  /** Decimal string in USD. */
  costUsd: string
  enrichedAt: string | null
}

export interface Answer extends Result {
  taskId: string
  /** True when the task has ended or is parked. */
  done: boolean
}

export interface RecordRef {
  objectType: 'companies' | 'contacts'
  objectId: string
}

export interface Paydirt {
  enrich(record: RecordRef, recipe?: string): Promise<Answer>
  /** Returns the current state of the task. Throws Problem. */
  task(record: RecordRef, taskId: string): Promise<Answer>
  /** Returns the last result for the record; undefined if it was never enriched. */
  last(record: RecordRef): Promise<Result | undefined>
}

type Fetch = (
  url: string,
  options: { method: 'POST'; timeout: number; body: Record<string, unknown> },
) => Promise<Pick<Response, 'ok' | 'status' | 'json'>>

/** An error with advice for the user of the card. */
export class Problem extends Error {
  readonly httpStatus: number
  readonly advice: string

  constructor(title: string, advice: string, httpStatus = 0) {
    super(title)
    this.name = 'Problem'
    this.advice = advice
    this.httpStatus = httpStatus
  }

  /** The server is busy; the same request can be retried after a pause. */
  get isBusy(): boolean {
    return this.httpStatus === 429 || this.httpStatus === 503
  }

  /** The problem affects every record. */
  get isForAll(): boolean {
    return [401, 403, 404].includes(this.httpStatus)
  }
}

/** HubSpot times out after 15 seconds; the server responds within 10. */
const timeoutMs = 14_000

export function createPaydirt({ url, fetch }: { url: unknown; fetch: Fetch }): Paydirt {
  const send = async (body: Record<string, unknown>): Promise<Record<string, unknown>> => {
    const response = await fetch(`${baseUrl(url)}/hooks/hubspot/card`, {
      method: 'POST',
      timeout: timeoutMs,
      body,
    }).catch(() => {
      throw new Problem(
        'Paydirt did not respond.',
        'Click Enrich again in a minute. A repeated request is not paid twice. If the problem persists, ask your Paydirt operator whether the server is up.',
      )
    })
    const document: unknown = await response.json().catch(() => undefined)
    if (!response.ok) throw problemOf(response.status, document)
    if (!isObject(document)) throw invalidAnswer()
    return document
  }

  return {
    enrich: async (record, recipe) =>
      readAnswer(await send({ action: 'enrich', ...record, ...(recipe ? { recipe } : {}) })),
    task: async (record, taskId) => readAnswer(await send({ action: 'status', ...record, taskId })),
    last: async (record) => {
      const document = await send({ action: 'status', ...record })
      return isObject(document['last']) ? readResult(document['last']) : undefined
    },
  }
}

/** Throws Problem for an object that Paydirt does not enrich. */
export function recordRef(objectTypeId: string, objectId: string | number): RecordRef {
  const objectType = { '0-1': 'contacts' as const, '0-2': 'companies' as const }[objectTypeId]
  if (!objectType)
    throw new Problem('Paydirt enriches companies and contacts only.', 'Remove this card from other objects.')
  return { objectType, objectId: String(objectId) }
}

/** Reads the recipes that the card offers from the profile's variable. The first one is the default. */
export function recipesOf(variable: unknown): string[] {
  return typeof variable === 'string'
    ? variable
        .split(',')
        .map((name) => name.trim())
        .filter(Boolean)
    : []
}

/**
 * Polls a task until it is done, at growing intervals, for at most five minutes; the task itself continues. `pause`
 * resolves to false when the card was closed.
 */
export async function follow(options: {
  first: Answer
  ask: (taskId: string) => Promise<Answer>
  onAnswer: (answer: Answer) => void
  pause: (ms: number) => Promise<boolean>
}): Promise<Answer> {
  const { ask, onAnswer, pause } = options
  let answer = options.first
  let waitedMs = 0
  let waitMs = 2_000
  while (!answer.done && waitedMs < 300_000) {
    if (!(await pause(waitMs))) return answer
    waitedMs += waitMs
    waitMs = Math.min(waitMs * 1.5, 15_000)
    try {
      answer = await ask(answer.taskId)
    } catch (error) {
      // The server is busy or restarting; it keeps the task.
      if (error instanceof Problem && (error.isBusy || error.httpStatus === 0 || error.httpStatus >= 500))
        continue
      throw error
    }
    onAnswer(answer)
  }
  return answer
}

/** Lists the fields for which nothing was bought: `Email (filled already)`. Empty when there are none. */
export function leftOutText({ leftOut = [] }: Pick<Result, 'leftOut'>): string {
  return leftOut.map(({ label, reason }) => `${label} (${reason})`).join(', ')
}

/** Formats a cost: `USD 0.01`, or `nothing`. */
export function costText(costUsd: string): string {
  const [whole = '0', fraction = ''] = costUsd.split('.')
  const cents = fraction.replace(/0+$/, '').padEnd(2, '0')
  return /[1-9]/.test(costUsd) ? `USD ${whole}.${cents}` : 'nothing'
}

/** Adds decimal strings with up to six decimal places. */
export function sumUsd(amounts: readonly string[]): string {
  const micros = amounts.reduce((sum, amount) => sum + Math.round(Number(amount) * 1_000_000), 0)
  return (micros / 1_000_000).toFixed(6)
}

export const statusText: Record<TaskStatus, string> = {
  queued: 'Queued',
  looking_up: 'Looking up',
  ready: 'Writing to HubSpot',
  written: 'Fields filled',
  unchanged: 'No changes',
  skipped: 'Skipped',
  rejected: 'Rejected',
  parked: 'Parked',
}

/** Says what happens next, or what the user can do. */
export function nextText({ status }: Pick<Result, 'status'>): string {
  switch (status) {
    case 'queued':
    case 'looking_up':
    case 'ready':
      return 'Enrichment continues in the background; you can close this card.'
    case 'written':
      return 'The fields above were written to the record. Values that you change by hand are kept.'
    case 'unchanged':
      return 'The record already has everything that was found. Enriching again is free while the answer is fresh.'
    case 'skipped':
      return 'This record was not enriched. If you did not expect that, ask your Paydirt operator.'
    case 'rejected':
      return 'Add a domain, an e-mail address, a phone number or the profile URL to the record, then click Enrich again.'
    case 'parked':
      return 'Enrichment resumes when the reason no longer applies: a daily cap resets at midnight UTC, a stop ends when an operator resumes spending.'
  }
}

function baseUrl(url: unknown): string {
  if (typeof url === 'string' && url.startsWith('https://')) return url.replace(/\/+$/, '')
  throw new Problem(
    'The address of Paydirt is not set in this app.',
    'Ask an administrator to set PAYDIRT_URL (https://…) in the profile of the app and to upload it again.',
  )
}

function problemOf(httpStatus: number, document: unknown): Problem {
  const { title, detail } = isObject(document) ? document : {}
  const message = [detail, title].find((it): it is string => typeof it === 'string' && it !== '')
  return new Problem(
    message ?? `Paydirt responded with status ${httpStatus}.`,
    adviceFor(httpStatus),
    httpStatus,
  )
}

function adviceFor(httpStatus: number): string {
  if (httpStatus === 401)
    return 'Ask an administrator to check that Paydirt has the client secret of this app and that its clock is right.'
  if (httpStatus === 403) return 'Ask an administrator whether this account is allowed to enrich records.'
  if (httpStatus === 404)
    return 'Reload the page. If the problem persists, ask an administrator to check PAYDIRT_URL and that calls from HubSpot are set up in Paydirt.'
  if (httpStatus === 429) return 'Too many requests. Wait a minute, then click Enrich again.'
  if (httpStatus === 503)
    return 'Paydirt is starting, or HubSpot is not connected. Try again in a few minutes.'
  if (httpStatus >= 500) return 'Click Enrich again in a minute. A repeated request is not paid twice.'
  return 'Nothing was bought. Correct the problem, then click Enrich again.'
}

function readAnswer(document: Record<string, unknown>): Answer {
  const { taskId, done } = document
  if (typeof taskId !== 'string' || typeof done !== 'boolean') throw invalidAnswer()
  return { ...readResult(document), taskId, done }
}

function readResult(document: Record<string, unknown>): Result {
  const { status, reason, fields, leftOut, costUsd, enrichedAt } = document
  if (typeof status !== 'string' || !Object.hasOwn(statusText, status) || typeof costUsd !== 'string')
    throw invalidAnswer()
  return {
    status: status as TaskStatus,
    reason: typeof reason === 'string' && reason !== '' ? reason : null,
    fields: Array.isArray(fields) ? fields.filter(isObject).map(readField) : [],
    leftOut: Array.isArray(leftOut) ? leftOut.filter(isObject).map(readLeftOut) : [],
    costUsd,
    enrichedAt: typeof enrichedAt === 'string' ? enrichedAt : null,
  }
}

function readField({ name, label, value }: Record<string, unknown>): FilledField {
  return {
    name: String(name),
    label: String(label ?? name),
    value: value === null || value === undefined ? '' : String(value),
  }
}

function readLeftOut({ name, label, reason }: Record<string, unknown>): LeftOutField {
  return { name: String(name), label: String(label ?? name), reason: String(reason ?? '') }
}

function invalidAnswer(): Problem {
  return new Problem(
    'This app does not understand the response of Paydirt.',
    'Ask an administrator to upload the version of the app that matches the server.',
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
