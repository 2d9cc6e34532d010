import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { readEnvironment } from '../../src/app/config/environment.ts'
import { createLog } from '../../src/app/context/log.ts'
import { start } from '../../src/app/start.ts'
import { telemetryConfig } from '../../src/app/config/observing/telemetry.ts'
import { shapeOf } from '../../src/service/traced-transport.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { startPlannedSync } from '../support/planned-sync.ts'
import { openCrmHouse } from '../integration/crm-house.ts'
import { startCollector, type Span } from './trace-collector.fixture.ts'

const kinds = { server: 2, client: 3, producer: 4, consumer: 5 }

const people = [
  {
    email: 'erika.mustermann@acme-telemetry.test',
    firstname: 'Erika',
    lastname: 'Mustermann',
    phone: '+4930901820',
  },
  {
    email: 'maximiliane.muster@acme-telemetry.test',
    firstname: 'Maximiliane',
    lastname: 'Musterfrau',
    phone: '+4930901821',
  },
]

let sandbox: Sandbox
let collector: Awaited<ReturnType<typeof startCollector>>

beforeAll(async () => {
  sandbox = await startSandbox()
  collector = await startCollector()
})
afterAll(async () => {
  await collector.stop()
  await sandbox.stop()
})

test('a trace leads from a job to the request and the statements it made, and holds nobody’s data', async () => {
  const lines: string[] = []
  const log = createLog({ level: 'debug', modules: {} }, { write: (line) => void lines.push(line) })
  const house = await openCrmHouse(sandbox, {
    config: {
      payment: { maxPricesUsd: { 'contact.redeem:email-work': '0.15', 'contact.redeem:phone': '0.30' } },
    },
    env: {
      PAYDIRT_PORT: '0',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_SERVICE_NAME: 'paydirt-under-test',
    },
    overrides: { log },
  })
  const { context } = house
  house.add('companies', {
    name: 'Telemetry Secret Works',
    profnet_url: 'https://www.profnet.com/company/telemetry-secret-works',
  })
  for (const person of people) house.add('contacts', person)
  let url = ''
  try {
    const running = await start(context, 'all')
    url = /http:\S+/.exec(running.parts.join(' '))?.[0] ?? ''
    try {
      await fetch(`${url}/healthz?email=${people[0]?.email}`)
      await fetch(`${url}/v1/runs/${people[0]?.email}`)
      const runs = [
        await startPlannedSync(context, 'companies'),
        await startPlannedSync(context, 'contacts', 'contact'),
      ]
      // Others write this into a span: a driver's message, a job's failure.
      const span = trace.getTracer('test').startSpan('failing', { kind: SpanKind.CONSUMER })
      span.recordException(new Error(`no such person: ${people[0]?.email}`))
      span.setStatus({ code: SpanStatusCode.ERROR, message: `${people[0]?.email} failed` })
      span.setAttribute('bullmq.job.failed.reason', `${people[0]?.email} failed`)
      span.end()
      await vi.waitFor(
        async () => {
          for (const { runId } of runs) expect((await context.runs.get(runId))?.state).toBe('finished')
        },
        { timeout: 60_000, interval: 100 },
      )
    } finally {
      await running.stop()
    }
  } finally {
    await house.close()
  }

  const spans = collector.spans()
  const byId = new Map(spans.map((span) => [span.spanId, span]))
  const attribute = (span: Span, key: string) => span.attributes.find((each) => each.key === key)?.value
  const ancestors = (span: Span): Span[] => {
    const parent = byId.get(span.parentSpanId ?? '')
    return parent ? [parent, ...ancestors(parent)] : []
  }
  const requests = spans.filter((span) => span.kind === kinds.client && attribute(span, 'url.template'))
  expect(requests.length).toBeGreaterThan(0)
  const paid = requests.find((span) => attribute(span, 'http.response.status_code')?.['intValue'] === 200)
  const [root] = ancestors(paid!).slice(-1)
  expect(root).toMatchObject({ name: 'process lookup', kind: kinds.consumer, traceId: paid!.traceId })
  // Every line about a lookup names the trace of its job.
  const jobs = new Set(spans.filter(({ name }) => name === 'process lookup').map(({ traceId }) => traceId))
  const worked = lines
    .map((line) => JSON.parse(line) as { msg: string; traceId?: string })
    .filter(({ msg }) => msg === 'a lookup was worked')
  expect(worked).not.toHaveLength(0)
  for (const { traceId } of worked) expect(jobs).toContain(traceId)
  const statements = spans.filter(
    (span) => span.traceId === root!.traceId && attribute(span, 'db.query.text'),
  )
  expect(statements.map(({ name }) => name)).toEqual(expect.arrayContaining(['SELECT', 'UPDATE', 'INSERT']))
  expect(statements.every((span) => ancestors(span).includes(root!))).toBe(true)

  const served = spans.filter(({ kind }) => kind === kinds.server)
  expect(served.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['GET /healthz', 'GET /v1/runs/{id}']),
  )
  expect(spans.some(({ kind, name }) => kind === kinds.producer && name.startsWith('addBulk'))).toBe(true)
  // An idle queue makes no traces.
  expect(spans.filter(({ name }) => name.includes('getNextJob'))).toEqual([])

  const failing = spans.find(({ name }) => name === 'failing')
  expect(failing).toMatchObject({ attributes: [], status: { code: SpanStatusCode.ERROR } })
  expect(JSON.stringify(failing)).toContain('exception.type')

  expect([...collector.paths]).toEqual(['POST /v1/traces application/json'])
  expect(JSON.stringify(collector.resources()[0])).toContain('paydirt-under-test')
  const text = collector.text()
  const secrets = [
    ...people.flatMap((person) => Object.values(person)),
    'acme-telemetry',
    'telemetry-secret',
    'Telemetry Secret',
    house.wallet,
    house.hubspot.token,
    'profnet.com',
  ]
  expect(secrets.filter((secret) => text.toLowerCase().includes(secret.toLowerCase()))).toEqual([])
  expect(text).not.toMatch(/0x[0-9a-f]{64}/i)
})

describe('the standard variables decide', () => {
  const read = (env: Record<string, string>) => telemetryConfig(readEnvironment(env))

  test.each([
    [{}, undefined],
    [{ OTEL_SERVICE_NAME: 'x' }, undefined],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_SDK_DISABLED: 'true' }, undefined],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318', OTEL_TRACES_EXPORTER: 'none' }, undefined],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318/' }, 'http://c:4318/v1/traces'],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c:4318/in' }, 'http://c:4318/in'],
  ])('%j sends to %s', (env, url) => expect(read(env as Record<string, string>)?.tracesUrl).toBe(url))

  test('also without an address, and with attributes of the resource', () => {
    expect(
      read({ OTEL_TRACES_EXPORTER: 'otlp', OTEL_RESOURCE_ATTRIBUTES: 'service.name=pd,team=rev%20ops' }),
    ).toEqual({
      serviceName: 'pd',
      attributes: { 'service.name': 'pd', team: 'rev ops' },
      tracesUrl: undefined,
    })
  })

  test.each([
    [{ OTEL_TRACES_EXPORTER: 'zipkin' }, /OTEL_TRACES_EXPORTER/],
    [{ OTEL_TRACES_EXPORTER: 'otlp', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, /OTEL_EXPORTER_OTLP_PROTOCOL/],
    [{ OTEL_TRACES_EXPORTER: 'otlp', OTEL_RESOURCE_ATTRIBUTES: 'team' }, /OTEL_RESOURCE_ATTRIBUTES/],
  ])('%j is refused by its name', (env, message) =>
    expect(() => read(env as Record<string, string>)).toThrow(message),
  )
})

test.each([
  ['/profnet/company', '/profnet/company'],
  ['/people/erika@acme.test', '/people/{id}'],
  ['/batch/3f2a91c0-0000-4000-8000-000000000000/status', '/batch/{id}/status'],
])('of the path %s a trace tells %s', (path, shape) => expect(shapeOf(path)).toBe(shape))
