import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Alert, Button, LoadingButton, Select, StatusTag } from '@hubspot/ui-extensions'
import { createRenderer } from '@hubspot/ui-extensions/testing'
import { createElement, type ComponentType } from 'react'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { enrichSelection, type Tally } from '../../crm/hubspot/src/app/actions/selection.ts'
import {
  costText,
  Problem,
  statusText,
  sumUsd,
  type Answer,
  type RecordRef,
} from '../../crm/hubspot/src/app/cards/paydirt-client.ts'
import { taskStatuses } from '../../src/domain/words.ts'
import { hookAnswerSchema } from '../../src/http/routes/hook-answer.ts'

const app = join(import.meta.dirname, '../../crm/hubspot/src/app')
// The project's own compiler settings know no JSX; vitest does.
const { EnrichRecord } = await load<{ EnrichRecord: ComponentType<Record<string, unknown>> }>(
  'cards/enrich-record.tsx',
)
const { EnrichSelection } = await load<{ EnrichSelection: ComponentType<Record<string, unknown>> }>(
  'actions/enrich-selection.tsx',
)

function load<Module>(path: string): Promise<Module> {
  return import(pathToFileURL(join(app, path)).href) as Promise<Module>
}

/** What HubSpot's `fetch` was asked for, and what it answers in turn: a status and a body, or nothing at all. */
let asked: { url: string; body: Record<string, unknown> }[]
let answers: ([number, unknown] | 'no answer')[]

beforeEach(() => {
  asked = []
  answers = []
  vi.stubGlobal('self', {
    hsFetch: async (url: string, { body }: { body: Record<string, unknown> }) => {
      asked.push({ url, body })
      const next = answers.shift()
      if (!next || next === 'no answer') throw new Error('Timeout')
      return Response.json(next[1], { status: next[0] })
    },
  })
})

afterEach(() => vi.unstubAllGlobals())

const result = {
  taskId: 't1',
  runId: 'r1',
  status: 'written',
  reason: null,
  fields: [{ name: 'industry', label: 'Industry', value: 'Software' }],
  costUsd: '0.010000',
  currency: 'USD',
  enrichedAt: '2026-11-02T09:00:00.000Z',
  done: true,
  last: null,
}
const pending = { ...result, status: 'looking_up', fields: [], costUsd: '0.000000', done: false }
const never = { ...result, taskId: null, status: null, done: true, last: null }
/** What the server answers where there is no task: as its schema lets it through, and with nothing else. */
const withLast = (last: object) => hookAnswerSchema.parse({ ...never, last })
const variables = { PAYDIRT_URL: 'https://paydirt.test/', PAYDIRT_RECIPES: 'profile, contact' }

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
  test('speaks of each status that a task can have', () => {
    expect(Object.keys(statusText)).toEqual([...taskStatuses])
  })

  test('shows the last result of the record', async () => {
    answers = [[200, withLast(result)]]
    const card = showCard()
    await card.settled()
    expect(asked).toEqual([
      {
        url: 'https://paydirt.test/hooks/hubspot/card',
        body: { action: 'status', objectType: 'companies', objectId: '51' },
      },
    ])
    expect(card.renderer.find(StatusTag).text).toBe('Fields filled')
    expect(card.shown()).toContain('Software')
    expect(card.shown()).toContain('USD 0.01')
  })

  test('says why the last result is none', async () => {
    answers = [
      [200, withLast({ ...result, status: 'rejected', reason: 'nobody is known there', fields: [] })],
    ]
    const card = showCard()
    await card.settled()
    expect(card.renderer.find(StatusTag).text).toBe('Not possible')
    expect(card.shown()).toContain('nobody is known there')
  })

  test('asks after a task that takes longer, ever less often, until it is done', async () => {
    answers = [
      [200, never],
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
    expect(asked[1]!.body).toEqual({
      action: 'enrich',
      objectType: 'companies',
      objectId: '51',
      recipe: 'contact',
    })
    expect(asked[2]!.body).toEqual({
      action: 'status',
      objectType: 'companies',
      objectId: '51',
      taskId: 't1',
    })
    expect(card.slept).toEqual([2_000, 3_000, 4_500])
    expect(card.shown()).toContain('Software')
  })

  test('leaves a task after five minutes, and looks again when asked to', async () => {
    answers = [[200, never], ...Array.from({ length: 60 }, (): [number, unknown] => [200, pending])]
    const card = showCard()
    await card.settled()
    card.renderer.find(LoadingButton).trigger('onClick')
    await card.renderer.waitFor(() => card.renderer.find(Button))
    expect(card.slept.reduce((sum, ms) => sum + ms, 0)).toBeGreaterThanOrEqual(300_000)
    answers = [[200, result]]
    card.renderer.find(Button).trigger('onClick')
    await card.renderer.waitFor(() => expect(card.refreshObjectProperties).toHaveBeenCalledOnce())
    expect(asked.at(-1)!.body).toMatchObject({ action: 'status', taskId: 't1' })
  })

  test.each([
    [
      [401, { title: 'Unauthorized', detail: 'The signature is wrong.' }] as [number, unknown],
      'The signature is wrong.',
      'client secret',
    ],
    [[429, { title: 'Too many requests' }] as [number, unknown], 'Too many requests', 'Wait a minute'],
    [[502, 'gateway'] as [number, unknown], 'Paydirt answered with status 502.', 'not paid for twice'],
    [[200, { hello: 'world' }] as [number, unknown], 'does not understand', 'belongs to the version'],
    ['no answer' as const, 'Paydirt did not answer.', 'whether the server is up'],
  ])('says what to do after %j', async (answer, title, advice) => {
    answers = [[200, never], answer]
    const card = showCard()
    await card.settled()
    card.renderer.find(LoadingButton).trigger('onClick')
    await card.renderer.waitFor(() => card.renderer.find(Alert))
    await card.settled()
    expect(card.renderer.find(Alert).props.title).toContain(title)
    expect(card.renderer.find(Alert).text).toContain(advice)
  })

  test('says so where it was not set up', async () => {
    const card = showCard({ crm: { objectId: 51, objectTypeId: '0-2' }, variables: {} })
    await card.settled()
    expect(card.renderer.find(Alert).text).toContain('PAYDIRT_URL')
    expect(asked).toEqual([])
  })

  test('writes money as it is', () => {
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

describe('"Enrich selected"', () => {
  test('asks for each selected record once, after its button is pressed', async () => {
    answers = Array.from({ length: 20 }, (): [number, unknown] => [200, result])
    const renderer = createRenderer('crm.bulkActions')
    const objectIds = Array.from({ length: 20 }, (_, at) => at + 1)
    renderer.render(
      createElement(EnrichSelection, {
        context: { crm: { objectTypeId: '0-1', objectIds }, variables },
        sleep: async () => {},
      }),
    )
    expect(asked).toEqual([])
    renderer.find(LoadingButton).trigger('onClick')
    await renderer.waitFor(() =>
      expect(renderer.getRootNode().toString()).toContain('this panel may be closed'),
    )
    expect(asked.map(({ body }) => Number(body['objectId'])).sort((a, b) => a - b)).toEqual(objectIds)
    expect(
      new Set(asked.map(({ body }) => `${String(body['action'])} ${String(body['objectType'])}`)),
    ).toEqual(new Set(['enrich contacts']))
    expect(renderer.getRootNode().toString()).toContain('USD 0.20')
  })

  const records = Array.from({ length: 50 }, (_, at): RecordRef => ({
    objectType: 'companies',
    objectId: String(at),
  }))
  const run = (enrich: (record: RecordRef) => Promise<Answer>, isStopped = () => false) => {
    const slept: number[] = []
    const tallies: Tally[] = []
    const done = enrichSelection({
      paydirt: { enrich },
      records,
      sleep: async (ms) => void slept.push(ms),
      isStopped,
      onTally: (tally) => tallies.push(tally),
    })
    return { done, slept, tallies }
  }

  test('has at most 8 requests under way', async () => {
    let now = 0
    let most = 0
    const { done } = run(async () => {
      most = Math.max(most, ++now)
      await new Promise((resolve) => setImmediate(resolve))
      now -= 1
      return result as unknown as Answer
    })
    expect((await done).accepted).toBe(50)
    expect(most).toBe(8)
  })

  test('asks a busy server again after a pause', async () => {
    let refusals = 3
    const { done, slept } = run(async () => {
      if (refusals-- > 0) throw new Problem('busy', 'wait', 429)
      return result as unknown as Answer
    })
    expect(await done).toMatchObject({ accepted: 50, failures: [], stopped: undefined })
    expect(slept).toEqual([2_000, 2_000, 2_000])
  })

  test('goes on after a record that fails, and stops at what all would meet with', async () => {
    const one = await run(async ({ objectId }) => {
      if (objectId === '7') throw new Problem('no such record', 'none', 422)
      return result as unknown as Answer
    }).done
    expect(one).toMatchObject({ accepted: 49, stopped: undefined })
    expect(one.failures.map(({ objectId }) => objectId)).toEqual(['7'])

    let calls = 0
    const all = await run(async () => {
      calls += 1
      throw new Problem('signature', 'admin', 401)
    }).done
    expect(all.stopped).toBeInstanceOf(Problem)
    expect(calls).toBeLessThanOrEqual(8)
  })

  test('asks for no further record once it is stopped by hand', async () => {
    let calls = 0
    const { done } = run(
      async () => {
        calls += 1
        return result as unknown as Answer
      },
      () => calls >= 10,
    )
    const tally = await done
    expect(tally.stopped).toBe('by_hand')
    expect(tally.accepted).toBe(calls)
    expect(calls).toBeLessThan(20)
  })
})

describe('the window in Salesforce', () => {
  const enrichment = () =>
    load<{
      statusLabels: Record<string, string>
      readAnswer: (document: unknown) => Answer
      readLast: (document: unknown) => Answer
      rowsOf: (answer: Answer) => { label: string; value: string }[]
      problemText: (error: unknown) => string
      follow: (options: object) => Promise<Answer>
      phaseAfterFailure: (phase: string) => string
    }>('../../../salesforce/force-app/main/default/lwc/paydirtEnrich/enrichment.js')

  test('speaks of each status, and lists reason, fields, cost and time', async () => {
    const { statusLabels, readAnswer, rowsOf } = await enrichment()
    expect(Object.keys(statusLabels)).toEqual([...taskStatuses])
    expect(
      rowsOf(readAnswer({ ...result, reason: 'why' })).map(({ label, value }) => `${label}: ${value}`),
    ).toEqual([
      'Reason: why',
      'Industry: Software',
      'Cost: USD 0.01',
      `When: ${new Date(result.enrichedAt).toLocaleString()}`,
    ])
  })

  test('lists the last result of the record, as the server tells it', async () => {
    const { readLast, rowsOf } = await enrichment()
    const rows = (last: object) =>
      rowsOf(readLast(withLast(last))).map(({ label, value }) => `${label}: ${value}`)
    expect(rows(result)).toContain('Industry: Software')
    expect(rows({ ...result, status: 'skipped', reason: 'suppressed' })).toContain('Reason: suppressed')
  })

  test('asks after a task until it is done or nobody looks any more', async () => {
    const { follow, readAnswer } = await enrichment()
    const steps = [pending, result]
    const seen: string[] = []
    const done = await follow({
      first: readAnswer(pending),
      ask: async () => readAnswer(steps.shift()),
      onAnswer: ({ status }: Answer) => seen.push(status),
      pause: async () => true,
    })
    expect(done.status).toBe('written')
    expect(seen).toEqual(['looking_up', 'written'])

    let asks = 0
    await follow({
      first: readAnswer(pending),
      ask: async () => {
        asks += 1
        return readAnswer(pending)
      },
      onAnswer: () => {},
      pause: async () => false,
    })
    expect(asks).toBe(0)
  })

  test('follows a task over a few failures in a row, and then leaves it to be looked at again', async () => {
    const { follow, phaseAfterFailure, readAnswer } = await enrichment()
    const fails = { body: { message: 'Paydirt could not be called' } }
    const following = (steps: (object | 'fails')[]) =>
      follow({
        first: readAnswer(pending),
        ask: async () => {
          const step = steps.shift()
          if (step === 'fails') throw fails
          return readAnswer(step)
        },
        onAnswer: () => {},
        pause: async () => true,
      })
    const three = Array.from({ length: 3 }, () => 'fails' as const)
    expect((await following([...three, pending, ...three, result])).status).toBe('written')
    await expect(following([...three, 'fails', result])).rejects.toBe(fails)
    expect(['following', 'asking', 'loading'].map(phaseAfterFailure)).toEqual(['left', 'idle', 'idle'])
  })

  test('says what Apex said, and refuses what it does not understand', async () => {
    const { problemText, readAnswer, readLast } = await enrichment()
    expect(problemText({ body: { message: 'The signature is wrong.' } })).toBe('The signature is wrong.')
    expect(() => readAnswer({ status: 'done' })).toThrow('does not understand')
    expect(readLast({ last: null })).toBeUndefined()
  })
})
