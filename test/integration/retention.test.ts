import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { enforceRetention } from '../../src/app/runs/retention.ts'
import { personAnswer } from '../../src/sandbox/data/person.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openCrmHouse, type CrmHouse } from './crm-house.ts'

let sandbox: Sandbox
let house: CrmHouse

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => house.close())

const known = Array.from({ length: 60 }, (_, index) => `quita-zanders-${index}`).filter(
  (name) => personAnswer(`https://www.profnet.com/in/${name}`).data !== null,
)

test('answers older than the retention are erased, and the next run buys them anew and no others', async () => {
  let ahead = 0
  house = await openCrmHouse(sandbox, {
    config: { retention: { answersDays: 10 } },
    overrides: { now: () => new Date(Date.now() + ahead) },
  })
  for (const name of known.slice(0, 2))
    house.add('contacts', { lastname: name, profnet_url: `https://www.profnet.com/in/${name}` })
  await house.sync('contacts')
  expect(await enforceRetention(house.context)).toBe(0)
  ahead = 11 * 86_400_000
  expect(await enforceRetention(house.context)).toBe(2)
  const answers = await house.context.database.db
    .selectFrom('lookups')
    .select(['answer', 'outcome'])
    .execute()
  expect(answers).toEqual([
    { answer: null, outcome: 'found' },
    { answer: null, outcome: 'found' },
  ])
  // One more record of the same person: the others have everything, and nothing is bought for them.
  const [seen] = [...house.seen('contacts').values()]
  house.add('contacts', { profnet_url: seen?.['profnet_url'] ?? '' })
  const { summary } = await house.sync('contacts', (inner) => inner, {
    since: new Date(Date.now() - 60_000),
  })
  expect(summary.lookups.paid).toBe(summary.lookups.unique)
  expect(await house.transfers()).toHaveLength(2 + summary.lookups.paid)
  expect(summary.lookups.paid).toBeGreaterThan(0)
})
