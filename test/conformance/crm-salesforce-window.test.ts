import { describe, expect, test } from 'vitest'
import type { Answer } from '../../crm/hubspot/src/app/cards/paydirt-client.ts'
import { taskStatuses } from '../../src/domain/words.ts'
import { load, pending, result, withLast } from './crm-card.fixture.ts'

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

  test('has a text for each status, and lists reason, fields, cost and time', async () => {
    const { statusLabels, readAnswer, rowsOf } = await enrichment()
    expect(Object.keys(statusLabels)).toEqual([...taskStatuses])
    expect(
      rowsOf(readAnswer({ ...result, reason: 'why' })).map(({ label, value }) => `${label}: ${value}`),
    ).toEqual([
      'Reason: why',
      'Industry: Software',
      'Cost: USD 0.01',
      'Not bought: Website (filled already)',
      `When: ${new Date(result.enrichedAt).toLocaleString()}`,
    ])
  })

  test('lists the last result of the record from the server’s response', async () => {
    const { readLast, rowsOf } = await enrichment()
    const rows = (last: object) =>
      rowsOf(readLast(withLast(last))).map(({ label, value }) => `${label}: ${value}`)
    expect(rows(result)).toContain('Industry: Software')
    expect(rows({ ...result, status: 'skipped', reason: 'suppressed' })).toContain('Reason: suppressed')
  })

  test('polls a task until it is done or the window is closed', async () => {
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

  test('tolerates a few failures in a row, then lets the user check again', async () => {
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
    expect(['following', 'requesting', 'loading'].map(phaseAfterFailure)).toEqual(['left', 'idle', 'idle'])
  })

  test('shows the message of Apex, and refuses a response that it does not understand', async () => {
    const { problemText, readAnswer, readLast } = await enrichment()
    expect(problemText({ body: { message: 'The signature is wrong.' } })).toBe('The signature is wrong.')
    expect(() => readAnswer({ status: 'done' })).toThrow('does not understand')
    expect(readLast({ last: null })).toBeUndefined()
  })
})
