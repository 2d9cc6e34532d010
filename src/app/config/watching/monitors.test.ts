import { expect, test } from 'vitest'
import { z } from 'zod'
import { describeIssues } from '../describe-issues.ts'
import { monitorsSchema } from './monitors.ts'

const schema = z.strictObject({ monitors: monitorsSchema })
const spain = { detection_mode: 'signal_first', signal_types: ['expansions'] }

function faultOf(monitor: object, name = 'spain'): string | undefined {
  const { error } = schema.safeParse({ monitors: { [name]: monitor } })
  return error && describeIssues(schema, error.issues)
}

test.each([
  [spain],
  [{ ...spain, webhook: 'auto', status: 'draft', filters: { tos: ['ES'] } }],
  [{ ...spain, detection_mode: 'company_first', companies: ['acme.example'] }],
  [
    {
      ...spain,
      detection_mode: 'company_first',
      companies: { connector: 'hubspot', filter: 'lifecyclestage=customer' },
    },
  ],
  [{ ...spain, onMatch: { connector: 'hubspot', create: true } }],
])('%j is a monitor', (monitor) => {
  expect(faultOf(monitor)).toBeUndefined()
})

test.each([
  [{ ...spain, is_active: true }, "monitors.spain.is_active is not there any more: write status: 'active'"],
  [{ ...spain, is_paused: true }, "monitors.spain.is_paused is not there any more: write status: 'paused'"],
  [{ ...spain, filter: {} }, 'monitors.spain.filter is not a setting; did you mean filters'],
  [{ ...spain, status: 'on' }, 'monitors.spain.status: '],
  [{ ...spain, signal_types: [] }, 'monitors.spain.signal_types: '],
  [{ ...spain, companies: ['acme.example'] }, 'monitors.spain.companies: is only for company_first'],
  [{ ...spain, detection_mode: 'company_first' }, 'monitors.spain.companies: is missing'],
  [
    { ...spain, webhook: 'http://127.0.0.1:8080/hooks/monitor' },
    'monitors.spain.webhook: 127.0.0.1 is no public address',
  ],
  [{ ...spain, webhook: 'hooks' }, "monitors.spain.webhook: must be 'auto'"],
])('%j is refused with its place', (monitor, message) => {
  expect(faultOf(monitor)).toContain(message)
})

test('a name that the mark could not hold is refused', () => {
  expect(faultOf(spain, 'Spain 1')).toContain('must be a name of small letters, digits and hyphens')
})
