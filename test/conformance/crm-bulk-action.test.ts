import { LoadingButton } from '@hubspot/ui-extensions'
import { createRenderer } from '@hubspot/ui-extensions/testing'
import { createElement, type ComponentType } from 'react'
import { describe, expect, test } from 'vitest'
import { enrichSelection, type Tally } from '../../crm/hubspot/src/app/actions/selection.ts'
import { Problem, type Answer, type RecordRef } from '../../crm/hubspot/src/app/actions/paydirt-client.ts'
import { load, result, stubFetch, variables } from './crm-card.fixture.ts'

const { EnrichSelection } = await load<{ EnrichSelection: ComponentType<Record<string, unknown>> }>(
  'actions/enrich-selection.tsx',
)
const server = stubFetch()

describe('"Enrich selected"', () => {
  test('requests each selected record once, after a click on its button', async () => {
    server.responses = Array.from({ length: 20 }, (): [number, unknown] => [200, result])
    const renderer = createRenderer('crm.bulkActions')
    const objectIds = Array.from({ length: 20 }, (_, at) => at + 1)
    renderer.render(
      createElement(EnrichSelection, {
        context: { crm: { objectTypeId: '0-1', objectIds }, variables },
        sleep: async () => {},
      }),
    )
    expect(server.requests).toEqual([])
    renderer.find(LoadingButton).trigger('onClick')
    await renderer.waitFor(() =>
      expect(renderer.getRootNode().toString()).toContain('you can close this panel'),
    )
    expect(server.requests.map(({ body }) => Number(body['objectId'])).sort((a, b) => a - b)).toEqual(
      objectIds,
    )
    expect(
      new Set(server.requests.map(({ body }) => `${String(body['action'])} ${String(body['objectType'])}`)),
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

  test('has at most 8 concurrent requests', async () => {
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

  test('retries after a pause while the server is busy', async () => {
    let refusals = 3
    const { done, slept } = run(async () => {
      if (refusals-- > 0) throw new Problem('busy', 'wait', 429)
      return result as unknown as Answer
    })
    expect(await done).toMatchObject({ accepted: 50, failures: [], stopped: undefined })
    expect(slept).toEqual([2_000, 2_000, 2_000])
  })

  test('continues after a record that fails, and stops at a problem that affects all', async () => {
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

  test('requests no further record after it is stopped by hand', async () => {
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
