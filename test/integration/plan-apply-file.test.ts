import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { openInput, planCsv } from '../../src/app/runs/enrich-csv.ts'
import { newPlanId } from '../../src/app/context/new-id.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { applyIn } from './plan-apply.fixture.ts'
import { openCrmHouse, type CrmHouse } from './crm-house.ts'

let sandbox: Sandbox
let house: CrmHouse

beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())
afterEach(() => house.close())

const urlOf = (name: string) => `https://www.profnet.com/company/${name}`
const known = Array.from({ length: 60 }, (_, index) => `plan-co-${index}`).filter(
  (name) => companyAnswer(urlOf(name)).data?.description,
)

const apply = (id: string, out?: string) => applyIn(house, id, out)

const usd = (count: number) => (count / 100).toFixed(6)

describe('a plan of a CSV', () => {
  test('is refused when the file has changed or more has to be bought, and else carried out to the cent', async () => {
    let ahead = 0
    house = await openCrmHouse(sandbox, { overrides: { now: () => new Date(Date.now() + ahead) } })
    const { dataDir } = house.context.config
    const [input, out] = [join(dataDir, '..', 'in.csv'), join(dataDir, '..', 'out.csv')]
    const rows = (count: number) =>
      `profnet_url\n${known
        .slice(0, count)
        .map((name) => urlOf(name))
        .join('\n')}\n`
    const plan = async () => {
      const csv = await openInput(house.context.config, { input, object: 'company' })
      return planCsv(house.context, csv, { planId: newPlanId(house.context) })
    }
    await writeFile(input, rows(3))
    const first = await plan()
    expect(first).toMatchObject({ lookups: { toBuy: 3 }, cost: { low: usd(3), high: usd(3) } })
    await writeFile(input, rows(4))
    await expect(apply(first.planId ?? '', out)).rejects.toMatchObject({ code: 'plan_drifted' })
    await writeFile(input, rows(3))
    const applied = await apply(first.planId ?? '', out)
    expect(applied).toMatchObject({
      end: 'finished',
      summary: { tasks: { written: 3 }, spend: { settled: usd(3) } },
    })

    const second = await plan()
    expect(second).toMatchObject({ lookups: { toBuy: 0 }, preview: { records: 3 } })
    // A hundred days later the answers are stale: what the plan had for nothing would have to be bought.
    ahead = 100 * 86_400_000
    await expect(apply(second.planId ?? '', out)).rejects.toMatchObject({ code: 'plan_drifted' })
    expect(await house.transfers()).toHaveLength(3)
  })
})
