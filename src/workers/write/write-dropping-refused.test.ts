import { expect, test } from 'vitest'
import type { RecordPatch, WriteResult } from '../../connectors/connector.ts'
import { ConfigError, RetriableError } from '../../domain/errors.ts'
import type { Patch } from '../../domain/record.ts'
import { writeAccepted } from './write-dropping-refused.ts'

const set = (...fields: string[]): Patch => Object.fromEntries(fields.map((field) => [field, { set: field }]))

/** A CRM that refuses these fields, one at a time as HubSpot does, and records what it was sent. */
function crm(refuses: readonly string[], fails: (round: number) => void = () => {}) {
  const sent: Record<string, string[]>[] = []
  return {
    sent,
    async write(_entity: string, patches: readonly RecordPatch[]): Promise<WriteResult[]> {
      fails(sent.length)
      sent.push(Object.fromEntries(patches.map(({ id, patch }) => [id, Object.keys(patch)])))
      return patches.map(({ id, patch }): WriteResult => {
        const bad = refuses.find((field) => field in patch)
        if (bad === undefined) return { id, status: 'written' }
        return { id, status: 'rejected', code: 'BAD', field: bad, reason: 'it is bad' }
      })
    },
  }
}

test('a refused field is left out and the others are written, in order', async () => {
  const { write, sent } = crm(['b', 'c'])
  const results = await writeAccepted({ write }, 'things', [
    { id: '1', patch: set('a', 'b', 'c') },
    { id: '2', patch: set('a') },
    { id: '3', patch: set('c', 'd') },
  ])
  expect(
    results.map(({ outcome, patch, refused }) => [
      outcome.id,
      outcome.status,
      Object.keys(patch),
      refused.map(({ field }) => field),
    ]),
  ).toEqual([
    ['1', 'written', ['a'], ['b', 'c']],
    ['2', 'written', ['a'], []],
    ['3', 'written', ['d'], ['c']],
  ])
  expect(sent).toEqual([
    { 1: ['a', 'b', 'c'], 2: ['a'], 3: ['c', 'd'] },
    { 1: ['a', 'c'], 3: ['d'] },
    { 1: ['a'] },
  ])
})

test('a patch with refused fields only is rejected', async () => {
  const { write, sent } = crm(['a', 'b'])
  const [result] = await writeAccepted({ write }, 'things', [{ id: '1', patch: set('a', 'b') }])
  expect(result).toMatchObject({
    outcome: { status: 'rejected', field: 'b' },
    refused: [{ field: 'a', code: 'BAD' }],
  })
  expect(sent).toHaveLength(2)
})

test('a refusal that names no field of the patch is final', async () => {
  const write = async (): Promise<WriteResult[]> => [
    { id: '1', status: 'rejected', code: 'LOCKED', reason: 'it is locked' },
  ]
  expect(await writeAccepted({ write }, 'things', [{ id: '1', patch: set('a', 'b') }])).toMatchObject([
    { outcome: { status: 'rejected', code: 'LOCKED' }, refused: [] },
  ])
})

test('an outage in a later round loses nothing of the first', async () => {
  const outage = (round: number) => {
    if (round === 1) throw new RetriableError('away', 'the CRM is away', { retryAfterMs: 7 })
  }
  const { write } = crm(['b'], outage)
  const results = await writeAccepted({ write }, 'things', [
    { id: '1', patch: set('a', 'b') },
    { id: '2', patch: set('a') },
  ])
  expect(results.map(({ outcome }) => outcome)).toEqual([
    { id: '1', status: 'retry', afterMs: 7, reason: 'the CRM is away' },
    { id: '2', status: 'written' },
  ])
})

test('an error that a person must mend, and an outage in the first round, are thrown', async () => {
  const patches = [{ id: '1', patch: set('a', 'b') }]
  for (const [round, error] of [
    [0, new RetriableError('away', 'the CRM is away', {})],
    [1, new ConfigError('bad', 'mend it')],
  ] as const) {
    const { write } = crm(['b'], (at) => {
      if (at === round) throw error
    })
    await expect(writeAccepted({ write }, 'things', patches)).rejects.toBe(error)
  }
})
