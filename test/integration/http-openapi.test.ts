import { createHmac, randomBytes } from 'node:crypto'
import { Validator } from '@seriousme/openapi-schema-validator'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { v3Headers } from '../support/hubspot-signature.ts'
import { call, secrets } from '../support/http-house.ts'
import {
  aCompany,
  house,
  monitorHeader,
  salesforce,
  token,
  useContractHouse,
} from './http-contract.fixture.ts'

useContractHouse()

interface Operation {
  operationId: string
  security: Record<string, string[]>[]
  responses: Record<string, { content?: Record<string, { schema: object }> }>
}

interface OpenApi {
  openapi: string
  paths: Record<string, Record<string, Operation>>
  components: { securitySchemes: Record<string, { type: string; name?: string; scheme?: string }> }
}

const enrich = (ids = [aCompany()], query = '') =>
  call<{ runId: string; tasks: { id: string }[] }>(`${house.url}/v1/enrich${query}`, {
    token,
    body: { connector: 'hubspot', object: 'company', ids },
  })

async function hubspotCall(path: string, body: object) {
  const text = JSON.stringify(body)
  const signed = { method: 'POST', uri: `${house.url}${path}`, body: text, atMs: Date.now() }
  return fetch(`${house.url}${path}`, {
    method: 'POST',
    body: text,
    headers: { 'content-type': 'application/json', ...(await v3Headers(secrets.hubspot, signed)) },
  })
}

const get = (path: string) => fetch(`${house.url}${path}`, { headers: { authorization: `Bearer ${token}` } })

/** One good call for each operation of the document. */
const exercises: Record<string, () => Promise<Response>> = {
  getHealth: () => fetch(`${house.url}/healthz`),
  getReadiness: () => fetch(`${house.url}/readyz`),
  getMetrics: () => fetch(`${house.url}/metrics`),
  getOpenApi: () => fetch(`${house.url}/openapi.json`),
  enrich: () =>
    fetch(`${house.url}/v1/enrich?wait=13`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ connector: 'hubspot', object: 'company', ids: [aCompany(), '404404404'] }),
    }),
  getTask: async () => get(`/v1/tasks/${(await enrich()).body.tasks[0]?.id}`),
  followTask: async () => get(`/v1/tasks/${(await enrich()).body.tasks[0]?.id}/events`),
  getRun: async () => get(`/v1/runs/${(await enrich()).body.runId}`),
  followRun: async () => get(`/v1/runs/${(await enrich([aCompany()], '?wait=13')).body.runId}/events`),
  hubspotCard: () =>
    hubspotCall('/hooks/hubspot/card', { action: 'enrich', objectType: '0-2', objectId: aCompany() }),
  hubspotWorkflow: () =>
    hubspotCall('/hooks/hubspot/workflow', {
      callbackId: 'ap-9-9-9-0',
      object: { objectId: Number(aCompany()), objectType: 'COMPANY' },
    }),
  salesforceAction: async () => {
    const [account] = [...salesforce.store.list('Account')]
    const body = JSON.stringify({ action: 'enrich', object: 'Account', recordId: account?.id })
    const [time, nonce] = [String(Math.floor(Date.now() / 1000)), randomBytes(12).toString('hex')]
    const text = `${time}.${nonce}.POST./hooks/salesforce.${body}`
    return fetch(`${house.url}/hooks/salesforce`, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        'x-paydirt-timestamp': time,
        'x-paydirt-nonce': nonce,
        'x-paydirt-signature': `v1=${createHmac('sha256', secrets.salesforce).update(text).digest('hex')}`,
      },
    })
  },
  getMonitorHook: () => fetch(`${house.url}/hooks/monitor`),
  deliverSignals: () =>
    fetch(`${house.url}/hooks/monitor`, {
      method: 'POST',
      headers: { [monitorHeader]: secrets.monitor, 'content-type': 'application/json' },
      body: JSON.stringify({ companies: [{ domain: 'acme.example' }] }),
    }),
}

describe('/openapi.json', () => {
  test('is valid OpenAPI 3.1', async () => {
    const { body } = await call(`${house.url}/openapi.json`)
    const result = await new Validator().validate(body)
    expect(result.errors).toBeUndefined()
    expect(result.valid).toBe(true)
    expect(body['openapi']).toBe('3.1.0')
  })

  test('says each way in, under the names that are set here', async () => {
    const { body } = await call<OpenApi>(`${house.url}/openapi.json`)
    const waysInto = (path: string) => {
      const { securitySchemes } = body.components
      const { security = [] } = body.paths[path]?.['post'] ?? {}
      return security.flatMap((way) => Object.keys(way)).map((name) => securitySchemes[name])
    }
    expect(waysInto('/hooks/monitor')).toMatchObject([{ name: monitorHeader }])
    expect(waysInto('/hooks/hubspot/card')).toMatchObject([{ name: 'X-HubSpot-Signature-v3' }])
    expect(waysInto('/hooks/hubspot/workflow')).toMatchObject([
      { name: 'X-HubSpot-Signature-v3' },
      { name: 'X-HubSpot-Signature' },
    ])
    expect(waysInto('/hooks/salesforce')).toMatchObject([
      { scheme: 'bearer' },
      { name: 'x-paydirt-signature' },
    ])
  })

  test('each of its operations is exercised, and answers as its schema says', async () => {
    const { body } = await call<OpenApi>(`${house.url}/openapi.json`)
    const operations = Object.values(body.paths).flatMap((path) => Object.values(path))
    expect(operations.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(exercises).sort())
    for (const { operationId, responses } of operations) {
      const response = await (exercises[operationId] as () => Promise<Response>)()
      const text = await response.text()
      expect([operationId, response.status, text]).toEqual([operationId, 200, expect.any(String)])
      const type = response.headers.get('content-type')?.split(';')[0] ?? ''
      const documented = Object.entries(responses['200']?.content ?? {})
      const [, answer] = documented.find(([name]) => name.split(';')[0] === type) ?? []
      expect(answer, `${operationId} answers ${type}`).toBeDefined()
      if (type === 'application/json') {
        const checked = z
          .fromJSONSchema(answer?.schema as Parameters<typeof z.fromJSONSchema>[0])
          .safeParse(JSON.parse(text))
        expect([operationId, checked.error]).toEqual([operationId, undefined])
      }
    }
  })
})
