import { createHash } from 'node:crypto'
import type { Operation } from '../src/domain/words.ts'
import { checkCall } from '../src/service/calls/check-call.ts'
import { prepareCall } from '../src/service/calls/prepare-call.ts'
import { createCatalogue } from '../src/service/catalogue/catalogue.ts'
import type { BenchOptions } from './options.ts'
import { median, printTable, round } from './table.ts'

interface Row {
  call: string
  'processor ms a call': number
  'times digest alone': number
  'bytes of body': number
  goal: number
}

const many = (count: number, of: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => of(index))
/** As many words as an account may have learned of one list. */
const learned = many(500, (index) => `Department of Things ${index}`)

const calls: readonly (readonly [name: string, Operation, Readonly<Record<string, unknown>>])[] = [
  ['insight of one company', 'hiring.insights', { domain: 'https://www.acme.example/jobs' }],
  ['expansions by words', 'expansion.lookup', { momentum: ['advancing'], froms: ['DE'], tos: ['JP', 'KR'] }],
  [
    'people by four filters',
    'people.search',
    {
      departments: ['Department of Things 7', 'DEPARTMENT-OF-THINGS-480'],
      people_locations: ['Berlin', 'Paris'],
      domains: ['www.acme.example', 'https://shop.bolt.example'],
      people_contact_types: ['email-work'],
      page: 3,
    },
  ],
  [
    'jobs of 100 companies',
    'job.search',
    {
      domains: many(100, (index) => `https://www.company-${index}.example/about`),
      functions: many(5, (index) => `department of things ${index * 90}`),
    },
  ],
]

/**
 * Measures the processor time in which a call is checked, guarded, brought into its canonical form, given its key and made a
 * request. Beside it, in the same rounds, its JSON with SHA-256 alone: machines differ, the ratio does not.
 */
export async function measureCalls({ quick }: BenchOptions): Promise<Row[]> {
  const catalogue = createCatalogue()
  const known = () => learned
  const [rounds, size] = quick ? [2, 20] : [15, 500]
  const rows = calls.map(([call, operation, body]): Row => {
    const contract = catalogue.of(operation)
    const checked = () => {
      const { body: sent } = checkCall(contract, body, { known })
      return prepareCall('https://service.example', catalogue, operation, sent)
    }
    const digested = () => createHash('sha256').update(JSON.stringify(body)).digest('hex')
    const times = Array.from({ length: rounds }, () => [cpuMs(size, digested), cpuMs(size, checked)] as const)
    // The first rounds are compiled while they run.
    const counted = times.slice(Math.floor(rounds / 3))
    const ms = median(counted.map(([, each]) => each))
    const alone = median(counted.map(([each]) => each))
    return {
      call,
      'processor ms a call': round(ms, 4),
      'times digest alone': round(ms / alone),
      'bytes of body': Buffer.byteLength(checked().body),
      goal: 0.2,
    }
  })
  printTable('calls', rows)
  return rows
}

/** Returns the processor time of one of so many calls. */
function cpuMs(size: number, call: () => unknown): number {
  const before = process.cpuUsage()
  for (let made = 0; made < size; made += 1) call()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000 / size
}
