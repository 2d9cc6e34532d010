import { Alert, Button, LoadingButton, Select, StatusTag } from '@hubspot/ui-extensions'
import { createRenderer } from '@hubspot/ui-extensions/testing'
import { createElement, type ComponentType } from 'react'
import { describe, expect, test, vi } from 'vitest'
import { costText, statusText, sumUsd } from '../../crm/hubspot/src/app/cards/paydirt-client.ts'
import { taskStatuses } from '../../src/domain/words.ts'
import { load, neverEnriched, pending, result, stubFetch, variables, withLast } from './crm-card.fixture.ts'

const { EnrichRecord } = await load<{ EnrichRecord: ComponentType<Record<string, unknown>> }>(
  'cards/enrich-record.tsx',
)
const server = stubFetch()

function showCard(context: object = { crm: { objectId: 51, objectTypeId: '0-2' }, variables }) {
  const renderer = createRenderer('crm.record.sidebar')
  const refreshObjectProperties = vi.fn<() => void>()
  const slept: number[] = []
  renderer.render(
    createElement(EnrichRecord, {
      context,
      actions: { refreshObjectProperties },
      sleep: async (ms: number) => void slept.push(ms),
    }),
  )
  const shown = () => renderer.getRootNode().toString()
  const settled = () =>
    renderer.waitFor(() => {
      const button = renderer.find(LoadingButton)
      expect(button.props.disabled).toBe(false)
      expect(button.props.loading).toBe(false)
    })
  return { renderer, refreshObjectProperties, slept, shown, settled }
}

describe('the card', () => {
  test('has a text for each status of a task', () => {
    expect(Object.keys(statusText)).toEqual([...taskStatuses])
  })

  test('shows the last result of the record', async () => {
    server.responses = [[200, withLast(result)]]
    const card = showCard()
    await card.settled()
    expect(server.requests).toEqual([
      {
        url: 'https://paydirt.test/hooks/hubspot/card',
        body: { action: 'status', objectType: 'companies', objectId: '51' },
      },
    ])
    expect(card.renderer.find(StatusTag).text).toBe('Fields filled')
    expect(card.shown()).toContain('Software')
    expect(card.shown()).toContain('USD 0.01')
  })

  test('shows the reason when the last result has no fields', async () => {
    server.responses = [
      [200, withLast({ ...result, status: 'rejected', reason: 'no person found', fields: [] })],
    ]
    const card = showCard()
    await card.settled()
    expect(card.renderer.find(StatusTag).text).toBe('Rejected')
    expect(card.shown()).toContain('no person found')
  })

  test('polls a task at growing intervals until it is done', async () => {
    server.responses = [
      [200, neverEnriched],
      [200, pending],
      [200, pending],
      [503, {}],
      [200, result],
    ]
    const card = showCard()
    await card.settled()
    expect(card.shown()).toContain('not enriched yet')
    card.renderer.find(Select).trigger('onChange', 'contact' as never)
    card.renderer.find(LoadingButton).trigger('onClick')
    await card.renderer.waitFor(() => expect(card.refreshObjectProperties).toHaveBeenCalledOnce())
    await card.settled()
    expect(server.requests[1]!.body).toEqual({
      action: 'enrich',
      objectType: 'companies',
      objectId: '51',
      recipe: 'contact',
    })
    expect(server.requests[2]!.body).toEqual({
      action: 'status',
      objectType: 'companies',
      objectId: '51',
      taskId: 't1',
    })
    expect(card.slept).toEqual([2_000, 3_000, 4_500])
    expect(card.shown()).toContain('Software')
    expect(card.shown()).toContain('Website (filled already)')
  })

  test('stops polling after five minutes, and checks again on request', async () => {
    server.responses = [
      [200, neverEnriched],
      ...Array.from({ length: 60 }, (): [number, unknown] => [200, pending]),
    ]
    const card = showCard()
    await card.settled()
    card.renderer.find(LoadingButton).trigger('onClick')
    await card.renderer.waitFor(() => card.renderer.find(Button))
    expect(card.slept.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThanOrEqual(300_000)
    server.responses = [[200, result]]
    card.renderer.find(Button).trigger('onClick')
    await card.renderer.waitFor(() => expect(card.refreshObjectProperties).toHaveBeenCalledOnce())
    expect(server.requests.at(-1)!.body).toMatchObject({ action: 'status', taskId: 't1' })
  })

  test.each([
    [
      [401, { title: 'Unauthorized', detail: 'The signature is wrong.' }] as [number, unknown],
      'The signature is wrong.',
      'client secret',
    ],
    [[429, { title: 'Too many requests' }] as [number, unknown], 'Too many requests', 'Wait a minute'],
    [[502, 'gateway'] as [number, unknown], 'Paydirt responded with status 502.', 'not paid twice'],
    [[200, { hello: 'world' }] as [number, unknown], 'does not understand', 'matches the server'],
    ['no response' as const, 'Paydirt did not respond.', 'whether the server is up'],
  ])('gives advice after %j', async (answer, title, advice) => {
    server.responses = [[200, neverEnriched], answer]
    const card = showCard()
    await card.settled()
    card.renderer.find(LoadingButton).trigger('onClick')
    await card.renderer.waitFor(() => card.renderer.find(Alert))
    await card.settled()
    expect(card.renderer.find(Alert).props.title).toContain(title)
    expect(card.renderer.find(Alert).text).toContain(advice)
  })

  test('names the missing setting', async () => {
    const card = showCard({ crm: { objectId: 51, objectTypeId: '0-2' }, variables: {} })
    await card.settled()
    expect(card.renderer.find(Alert).text).toContain('PAYDIRT_URL')
    expect(server.requests).toEqual([])
  })

  test('formats money without rounding', () => {
    expect(['0.000000', '0.010000', '0.123400', '1.5', '12'].map(costText)).toEqual([
      'nothing',
      'USD 0.01',
      'USD 0.1234',
      'USD 1.50',
      'USD 12.00',
    ])
    expect(sumUsd(['0.010000', '0.200000', '0.000001'])).toBe('0.210001')
  })
})
