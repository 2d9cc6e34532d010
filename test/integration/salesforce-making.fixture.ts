import { afterEach, beforeEach } from 'vitest'
import type { RecordDraft, RecordMaker } from '../../src/connectors/creating.ts'
import type { Patch } from '../../src/domain/record.ts'
import { openSalesforceBench, type SalesforceBench } from './salesforce.fixture.ts'

/** The org of every test, and the maker of a connector to it. */
export let bench: SalesforceBench
export let maker: RecordMaker

/** Opens an org for each test of the calling file. */
export function useMaker(): void {
  beforeEach(() => open())
  afterEach(() => bench.stop())
}

/** Opens an org, in place of the one that is open. */
export async function open(options: Parameters<typeof openSalesforceBench>[0] = {}): Promise<void> {
  bench = await openSalesforceBench(options)
  maker = bench.connect().maker!
}

type Values = Readonly<Record<string, string | number>>

export const draft = (key: string, values: Values, more = {}): RecordDraft => {
  const patch: Patch = Object.fromEntries(Object.entries(values).map(([name, set]) => [name, { set }]))
  return { key, patch, ...more }
}

/** Counts the calls of a piece of work, without those that describe objects. */
export async function counted<T>(work: () => Promise<T>): Promise<{ result: T; calls: number }> {
  const calls = (): number => bench.requests(/\/(composite|query)/)
  const before = calls()
  const result = await work()
  return { result, calls: calls() - before }
}

export async function make(entity: 'Account' | 'Contact' | 'Lead', drafts: RecordDraft[]): Promise<string[]> {
  const results = await maker.create(entity, drafts)
  return results.map((result) => (result.status === 'created' ? result.id : result.status))
}
