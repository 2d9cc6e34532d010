import { randomUUID } from 'node:crypto'
import type { DirectAnswer, DirectAsk, DirectEndpoint } from '../http/direct.ts'
import {
  isAbsent,
  isRefused,
  malformed,
  missing,
  OVER_QUOTA,
  readBody,
  textOf,
  type BadRequest,
} from '../http/request-body.ts'
import type { FaultSwitch } from '../faults/fault-switch.ts'
import { withTotals } from '../plan.ts'
import type { Action } from './action.ts'
import type { MonitorBook } from './book.ts'
import { codes, refusal } from './codes.ts'
import type { Deliveries } from './deliveries.ts'
import type { DetectionLog } from './detections.ts'
import { chartOf, readPeriod, statisticsOf } from './figures.ts'
import { interpret } from './interpret.ts'
import { fieldNames, statuses, type Monitor } from './monitor.ts'
import { postWebhook, type Outcome } from './post-webhook.ts'
import { pageOf, readPage, strayParameters } from './query-pages.ts'
import { readFields } from './read-fields.ts'
import { readWebhookHeaders, readWebhookUrl } from './read-webhook.ts'

interface MonitorContext {
  book: MonitorBook
  log: DetectionLog
  deliveries: Deliveries
  faults: FaultSwitch
  now: () => Date
  stopped: AbortSignal
}

const one = '/monitors/{monitor_id}'

/** The delivery of test processing. No company has this domain. */
const sample = {
  signal_id: 'test-signal',
  signal_type: 'expansions',
  domain: 'test-delivery.invalid',
  company_name: 'Test delivery',
  stage: 'Exploring',
}

/** The operations on monitors. Paths and fields other than those of service.md, 2.3 to 4.4 are the sandbox's own choice. */
export function monitorEndpoints(context: MonitorContext): { read: DirectEndpoint[]; actions: Action[] } {
  const { book, log, deliveries, now } = context
  const plan = () => withTotals(context.faults.current.plan)

  /** Answers for the monitor that the path names; refuses one that is unknown or another account's. */
  function forOne(answer: (ask: DirectAsk, monitor: Monitor) => DirectAnswer | Promise<DirectAnswer>) {
    return (ask: DirectAsk) => {
      const id = ask.parameters['monitor_id']!
      const monitor = book.find(ask.account, id)
      if (monitor !== undefined) return answer(ask, monitor)
      return refused(refusal(codes.unknownMonitor, 'no monitor has this monitor_id', { monitor_id: id }))
    }
  }

  function create(ask: DirectAsk): DirectAnswer {
    const read = readBody(ask, fieldNames)
    if (isRefused(read)) return refused(read)
    const checked = readFields(read.body, null, plan())
    if (isRefused(checked)) return refused(checked)
    const limit = plan().total_max_monitor
    if (book.of(ask.account).length >= limit) {
      const message = `The plan has ${limit} monitors, all in use`
      return { refused: { code: OVER_QUOTA, message, details: { limit } }, status: 416 }
    }
    const data = { ...book.add(ask.account, checked.fields) }
    return { data, ignoredFields: [...read.ignoredFields, ...checked.ignoredFields] }
  }

  function update(ask: DirectAsk, monitor: Monitor): DirectAnswer {
    const read = readBody(ask, fieldNames)
    if (isRefused(read)) return refused(read)
    const checked = readFields(read.body, monitor, plan())
    if (isRefused(checked)) return refused(checked)
    const data = { ...book.change(monitor, checked.fields) }
    return { data, ignoredFields: [...read.ignoredFields, ...checked.ignoredFields] }
  }

  function list({ account, query }: DirectAsk): DirectAnswer {
    const page = readPage(query, plan(), ['status'])
    if ('refused' in page) return page
    const status = query.get('status')
    if (status !== null && !statuses.includes(status as never)) {
      const message = `status must be one of ${statuses.join(', ')}`
      return refused(refusal(codes.status, message, { parameter: 'status' }))
    }
    const found = book.of(account).filter((each) => status === null || each.status === status)
    return { data: pageOf('monitors', found, page), ignoredFields: page.ignoredFields }
  }

  function logs({ query }: DirectAsk, { monitor_id: id }: Monitor): DirectAnswer {
    const page = readPage(query, plan())
    if ('refused' in page) return page
    return { data: structuredClone(pageOf('logs', log.of(id), page)), ignoredFields: page.ignoredFields }
  }

  function charts({ query }: DirectAsk, { monitor_id: id }: Monitor): DirectAnswer {
    const period = readPeriod(query, now())
    if ('code' in period) return refused(period)
    return {
      data: { monitor_id: id, ...chartOf(log.of(id), period) },
      ignoredFields: strayParameters(query, ['from', 'to']),
    }
  }

  async function validate(ask: DirectAsk): Promise<DirectAnswer> {
    const read = readBody(ask, ['webhook_url', 'webhook_headers'])
    if (isRefused(read)) return refused(read)
    const { webhook_url: rawUrl, webhook_headers: rawHeaders } = read.body
    if (isAbsent(rawUrl)) return refused(missing('webhook_url'))
    const url = readWebhookUrl(rawUrl)
    if (typeof url !== 'string') return refused(url)
    const headers = isAbsent(rawHeaders) ? {} : readWebhookHeaders(rawHeaders)
    if (isRefused(headers)) return refused(headers as BadRequest)
    const body = { monitor: null, triggered_at: now().toISOString(), is_test: true, signals: [] }
    const outcome = await postWebhook(
      { url, headers: headers as Record<string, string> },
      { id: randomUUID(), body: JSON.stringify(body), at: now() },
      { timeoutMs: context.faults.current.deliveryRules.timeoutMs, stopped: context.stopped },
    )
    if (!outcome.isAccepted) return refused(webhookRefused(outcome))
    return { data: { is_valid: true, upstream_status: outcome.status }, ignoredFields: read.ignoredFields }
  }

  async function test(ask: DirectAsk, monitor: Monitor): Promise<DirectAnswer> {
    const read = ask.text === '' ? { ignoredFields: [] } : readBody(ask, [])
    if (isRefused(read)) return refused(read)
    const tested = await deliveries.test(monitor, [sample])
    if (tested === null) {
      return refused(refusal(codes.noWebhook, 'the monitor has no webhook_url', { parameter: 'webhook_url' }))
    }
    const { deliveryId, outcome } = tested
    if (!outcome.isAccepted) return refused(webhookRefused(outcome))
    const data = { delivery_id: deliveryId, is_delivered: true, upstream_status: outcome.status }
    return { data, ignoredFields: read.ignoredFields }
  }

  function interpretSentence(ask: DirectAsk): DirectAnswer {
    const read = readBody(ask, ['query'])
    if (isRefused(read)) return refused(read)
    const { query } = read.body
    if (isAbsent(query)) return refused(missing('query'))
    const sentence = textOf(query)
    if (sentence === undefined) return refused(malformed('query must be a text', 'query'))
    const draft = interpret(sentence)
    if (draft === null) {
      return refused(refusal(codes.notUnderstood, 'query names no signal', { parameter: 'query' }))
    }
    return { data: draft, ignoredFields: read.ignoredFields }
  }

  return {
    read: [
      { name: 'monitor_list', method: 'GET', path: '/monitors', answer: list },
      {
        name: 'monitor_read',
        method: 'GET',
        path: one,
        answer: forOne(({ query }, monitor) => ({
          data: { ...monitor },
          ignoredFields: strayParameters(query, []),
        })),
      },
      {
        name: 'monitor_statistics',
        method: 'GET',
        path: `${one}/statistics`,
        answer: forOne(({ query }, { monitor_id: id }) => ({
          data: { monitor_id: id, ...statisticsOf(log.of(id)) },
          ignoredFields: strayParameters(query, []),
        })),
      },
      { name: 'monitor_charts', method: 'GET', path: `${one}/charts`, answer: forOne(charts) },
      { name: 'monitor_logs', method: 'GET', path: `${one}/detection-logs`, answer: forOne(logs) },
      { name: 'monitor_interpret', method: 'POST', path: '/monitors/interpret', answer: interpretSentence },
    ],
    actions: [
      { name: 'monitor_create', method: 'POST', path: '/monitors', answer: create },
      { name: 'monitor_update', method: 'PATCH', path: one, answer: forOne(update) },
      {
        name: 'monitor_delete',
        method: 'DELETE',
        path: one,
        answer: forOne((_, monitor) => ({
          data: { monitor_id: monitor.monitor_id, is_deleted: book.remove(monitor) },
          ignoredFields: [],
        })),
      },
      { name: 'monitor_validate', method: 'POST', path: '/monitors/webhook/validate', answer: validate },
      { name: 'monitor_test', method: 'POST', path: `${one}/test`, answer: forOne(test) },
    ],
  }
}

function refused(problem: BadRequest): DirectAnswer {
  return { refused: problem, status: 400 }
}

/** Returns the refusal of a webhook, with the answer that it gave. */
function webhookRefused({ status, body, error }: Outcome): BadRequest {
  return refusal(codes.webhookRefused, 'the webhook did not accept a signed delivery', {
    upstream_status: status,
    upstream_body: body,
    error,
  })
}
