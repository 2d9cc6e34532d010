import { expect, test } from 'vitest'
import type { Connector } from '../../connectors/connector.ts'
import type { Plan } from '../../store/plans/plans.ts'
import { recordDigest } from './make-plan.ts'
import { onlyPlanned } from './planned-scan.ts'

const record = (id: string) => ({ id, identity: { domain: `${id}.example` }, values: {} })

test('a page that is read again counts once, so that the scan does not end before the last record of the plan', async () => {
  const pages = [['a', 'b'], ['c', 'other'], ['d']].map((ids) => ids.map(record))
  const source = {
    async *scan() {
      for (const records of pages) yield { records, watermark: records.at(-1)?.id }
    },
  } as unknown as Connector
  const planned = new Map(['a', 'b', 'c', 'd'].map((id) => [id, recordDigest(record(id) as never, 'salt')]))
  const plans = {
    digests: async (_: string, ids: readonly string[]) =>
      new Map(ids.flatMap((id) => (planned.has(id) ? [[id, planned.get(id) as string] as const] : []))),
  }
  const tally = { same: 0, changed: 0, total: 4 }
  const connector = onlyPlanned(source, { id: 'p1' } as Plan, plans, 'salt', tally)
  // The first page could not be stored.
  for await (const page of connector.scan('companies', {})) {
    expect(page.records.map(({ id }) => id)).toEqual(['a', 'b'])
    break
  }
  const read = []
  for await (const page of connector.scan('companies', {})) read.push(...page.records.map(({ id }) => id))
  expect(read).toEqual(['a', 'b', 'c', 'd'])
  expect(tally).toEqual({ same: 4, changed: 0, total: 4 })
})
