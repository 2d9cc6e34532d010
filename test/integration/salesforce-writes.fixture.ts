import { afterEach, beforeEach } from 'vitest'
import type { RecordPatch } from '../../src/connectors/connector.ts'
import { openSalesforceBench, type SalesforceBench } from './salesforce.fixture.ts'

export let bench: SalesforceBench

/** Opens an org of 700 contacts for each test of the calling file. */
export function useBench(): void {
  beforeEach(async () => {
    bench = await openSalesforceBench({ accounts: 40, contacts: 700, leads: 20 })
  })
  afterEach(() => bench.stop())
}

export const collections = /PATCH .*\/composite\/sobjects$/

export const titles = (ids: readonly string[], title = 'Pilot'): RecordPatch[] =>
  ids.map((id) => ({ id, patch: { job_title: { set: title } } }))

export const fieldsOf = (id: string): Record<string, unknown> =>
  bench.org.store.get('Contact', id)?.fields ?? {}
