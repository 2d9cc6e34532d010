/** Talks to the Paydirt server. No import and no state: the card and the bulk action bring `hubspot.fetch` with them. */

export type TaskStatus =
  'queued' | 'looking_up' | 'ready' | 'written' | 'unchanged' | 'skipped' | 'rejected' | 'parked'

export interface FilledField {
  name: string
  label: string
  value: string
}

export interface Result {
  status: TaskStatus
  reason: string | null
  fields: FilledField[]
  /** Decimal string in USD. */
  costUsd: string
  enrichedAt: string | null
}

export interface Answer extends Result {
  taskId: string
  /** Nothing more comes of this task by itself: it is final, or parked. */
  done: boolean
}

export interface RecordRef {
  objectType: 'companies' | 'contacts'
  objectId: string
}

export interface Paydirt {
  enrich(record: RecordRef, recipe?: string): Promise<Answer>
  /** How the task stands. Throws Problem. */
  task(record: RecordRef, taskId: string): Promise<Answer>
  /** The last result for the record, or undefined where it never was enriched. */
  last(record: RecordRef): Promise<Result | undefined>
}

type Fetch = (
  url: string,
  options: { method: 'POST'; timeout: number; body: Record<string, unknown> },
) => Promise<Pick<Response, 'ok' | 'status' | 'json'>>

/** What went wrong, and what the person in front of the card can do about it. */
export class Problem extends Error {
  readonly httpStatus: number
  readonly advice: string

  constructor(title: string, advice: string, httpStatus = 0) {
    super(title)
    this.name = 'Problem'
    this.advice = advice
    this.httpStatus = httpStatus
  }

  /** The server has too much to do: the same request may be sent again after a pause. */
  get isBusy(): boolean {
    return this.httpStatus === 429 || this.httpStatus === 503
  }

  /** Every other record would meet with it too. */
  get isForAll(): boolean {
    return [401, 403, 404].includes(this.httpStatus)
  }
}

/** HubSpot gives up at 15 seconds; the server answers by 10. */
const timeoutMs = 14_000

export function createPaydirt({ url, fetch }: { url: unknown; fetch: Fetch }): Paydirt {
  const ask = async (body: Record<string, unknown>): Promise<Record<string, unknown>> => {
    const response = await fetch(`${baseUrl(url)}/hooks/hubspot/card`, {
      method: 'POST',
      timeout: timeoutMs,
      body,
    }).catch(() => {
      throw new Problem(
        'Paydirt did not answer.',
        'Press Enrich again in a minute: a record that is asked for twice is not paid for twice. If it stays like this, ask whoever runs Paydirt whether the server is up.',
      )
    })
    const document: unknown = await response.json().catch(() => undefined)
    if (!response.ok) throw problemOf(response.status, document)
    if (!isObject(document)) throw notUnderstood()
    return document
  }

  return {
    enrich: async (record, recipe) =>
      readAnswer(await ask({ action: 'enrich', ...record, ...(recipe ? { recipe } : {}) })),
    task: async (record, taskId) => readAnswer(await ask({ action: 'status', ...record, taskId })),
    last: async (record) => {
      const document = await ask({ action: 'status', ...record })
      return isObject(document['last']) ? readResult(document['last']) : undefined
    },
  }
}

/** Throws Problem for an object that Paydirt does not enrich. */
export function recordRef(objectTypeId: string, objectId: string | number): RecordRef {
  const objectType = { '0-1': 'contacts' as const, '0-2': 'companies' as const }[objectTypeId]
  if (!objectType)
    throw new Problem(
      'Paydirt enriches companies and contacts only.',
      'Remove this card from the other records.',
    )
  return { objectType, objectId: String(objectId) }
}

/** The recipes that the card offers, from the profile's variable; the first is taken unless another is chosen. */
export function recipesOf(variable: unknown): string[] {
  return typeof variable === 'string'
    ? variable
        .split(',')
        .map((name) => name.trim())
        .filter(Boolean)
    : []
}

/**
 * Asks after a task until it is done, ever less often, and gives up after five minutes: the task goes on without us.
 * `pause` resolves to false when nobody looks any more.
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
      // The server is busy or restarts; the task is kept there.
      if (error instanceof Problem && (error.isBusy || error.httpStatus === 0 || error.httpStatus >= 500))
        continue
      throw error
    }
    onAnswer(answer)
  }
  return answer
}

/** Whether something was bought or only read, in the currency of the answer: `USD 0.01`, `nothing`. */
export function costText(costUsd: string): string {
  const [whole = '0', fraction = ''] = costUsd.split('.')
  const cents = fraction.replace(/0+$/, '').padEnd(2, '0')
  return /[1-9]/.test(costUsd) ? `USD ${whole}.${cents}` : 'nothing'
}

/** The sum of decimal strings of up to six places. */
export function sumUsd(amounts: readonly string[]): string {
  const micros = amounts.reduce((sum, amount) => sum + Math.round(Number(amount) * 1_000_000), 0)
  return (micros / 1_000_000).toFixed(6)
}

export const statusText: Record<TaskStatus, string> = {
  queued: 'Waiting for its turn',
  looking_up: 'Looking up',
  ready: 'Writing to HubSpot',
  written: 'Fields filled',
  unchanged: 'Nothing to change',
  skipped: 'Skipped',
  rejected: 'Not possible',
  parked: 'Waiting',
}

/** What happens next, or what to do. */
export function nextText({ status }: Pick<Result, 'status'>): string {
  switch (status) {
    case 'queued':
    case 'looking_up':
    case 'ready':
      return 'It goes on by itself; this card may be closed.'
    case 'written':
      return 'The fields above are in the record. A value that you change by hand stays as you leave it.'
    case 'unchanged':
      return 'The record has all that could be found. Asking again is free while the answer is fresh.'
    case 'skipped':
      return 'Nothing is done for this record. Ask whoever runs Paydirt if that surprises you.'
    case 'rejected':
      return 'Give the record a domain, an e-mail address, a phone number or its profile URL, and press Enrich again.'
    case 'parked':
      return 'It goes on by itself when the reason is gone: a cap for the day ends at midnight, a stop when an operator ends it.'
  }
}

function baseUrl(url: unknown): string {
  if (typeof url === 'string' && url.startsWith('https://')) return url.replace(/\/+$/, '')
  throw new Problem(
    'This app does not know where Paydirt is.',
    'An administrator sets PAYDIRT_URL (https://…) in the profile of the app and uploads it again.',
  )
}

function problemOf(httpStatus: number, document: unknown): Problem {
  const { title, detail } = isObject(document) ? document : {}
  const said = [detail, title].find((it): it is string => typeof it === 'string' && it !== '')
  return new Problem(said ?? `Paydirt answered with status ${httpStatus}.`, adviceFor(httpStatus), httpStatus)
}

function adviceFor(httpStatus: number): string {
  if (httpStatus === 401)
    return 'An administrator checks that the client secret of this app stands in Paydirt’s settings, and that the clocks are right.'
  if (httpStatus === 403) return 'Ask an administrator whether this account may start enrichments.'
  if (httpStatus === 404)
    return 'Reload the page. If it stays, an administrator checks PAYDIRT_URL and that the button is switched on in Paydirt.'
  if (httpStatus === 429) return 'Too much was asked for at once. Wait a minute and press Enrich again.'
  if (httpStatus === 503) return 'Paydirt is starting or spending is stopped. Try again in a few minutes.'
  if (httpStatus >= 500)
    return 'Press Enrich again in a minute: a record that is asked for twice is not paid for twice.'
  return 'Nothing was bought. Correct what it says and press Enrich again.'
}

function readAnswer(document: Record<string, unknown>): Answer {
  const { taskId, done } = document
  if (typeof taskId !== 'string' || typeof done !== 'boolean') throw notUnderstood()
  return { ...readResult(document), taskId, done }
}

function readResult(document: Record<string, unknown>): Result {
  const { status, reason, fields, costUsd, enrichedAt } = document
  if (typeof status !== 'string' || !Object.hasOwn(statusText, status) || typeof costUsd !== 'string')
    throw notUnderstood()
  return {
    status: status as TaskStatus,
    reason: typeof reason === 'string' && reason !== '' ? reason : null,
    fields: Array.isArray(fields) ? fields.filter(isObject).map(readField) : [],
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

function notUnderstood(): Problem {
  return new Problem(
    'Paydirt answered something that this app does not understand.',
    'An administrator uploads the app that belongs to the version of the server.',
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
