import { expect, test } from 'vitest'
import { monitorFindings } from './monitor-findings.ts'

const at = new Date('2026-11-22T08:00:00Z')
const known = (given: object) => [
  { name: 'dach', monitorId: 'mon_1', comparedAt: at, differs: false, status: null, ...given },
]

test.each<[string, object, 'ok' | 'warning', RegExp]>([
  ['as declared', {}, 'ok', /mon_1: as declared at/],
  ['active, as its log has shown', { status: 'active' }, 'ok', /as declared/],
  ['changed by somebody', { differs: true }, 'warning', /not as declared at/],
  ['never compared', { comparedAt: null, differs: null }, 'warning', /never compared/],
  ['stopped by the service', { status: 'inactive' }, 'warning', /is inactive, declared is active/],
  ['unknown to the ledger', { name: 'other' }, 'warning', /not at the service/],
])('a monitor that is %s', (_, given, status, message) => {
  const [finding, ...others] = monitorFindings({ monitors: { dach: {} } } as never, known(given))
  expect(others).toEqual([])
  expect(finding).toMatchObject({ name: 'monitors.dach', status, message: expect.stringMatching(message) })
  expect(finding?.todo === undefined).toBe(status === 'ok')
})
