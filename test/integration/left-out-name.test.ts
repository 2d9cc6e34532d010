import { afterAll, beforeAll, expect, test } from 'vitest'
import { historyOf } from '../../src/app/records/history.ts'
import { timelineOf } from '../../src/app/web/record-timeline.ts'
import { historyText } from '../../src/cli/records/history.ts'
import { summaryText } from '../../src/cli/terminal/print-summary.ts'
import { html } from 'hono/html'
import { writeState } from '../../src/http/desk/pages/record.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openCrmHouse, type CrmHouse } from './crm-house.ts'

let sandbox: Sandbox
let house: CrmHouse

beforeAll(async () => {
  sandbox = await startSandbox()
  house = await openCrmHouse(sandbox)
})
afterAll(async () => {
  await house.close()
  await sandbox.stop()
})

const urlOf = (name: string) => `https://www.profnet.com/company/${name}`

test('a value without an option has one name in the summary, the history and on the desk', async () => {
  const names = Array.from({ length: 40 }, (_, index) => `one-name-${index}`)
    .filter((name) => companyAnswer(urlOf(name)).data)
    .slice(0, 8)
  const ids = names.map((name) => house.add('companies', { name, profnet_url: urlOf(name) }))
  const { summary } = await house.sync('companies')
  const name = 'left out industry (no such option)'
  const hint = '`paydirt options hubspot` lists'
  const told = summaryText(summary, 'finished', undefined)
  expect(told).toContain(name)
  expect(told).toContain(hint)

  let seen = 0
  for (const id of ids) {
    const record = { connector: 'hubspot', object: 'company', id }
    const history = await historyOf(house.context, record)
    const isLeftOut = history.tasks.some(({ reason }) => reason?.includes(name))
    const text = historyText(history)
    expect(text).not.toMatch(/rejected|not confirmed/)
    expect([id, text.includes('left out (no such option)')]).toEqual([id, isLeftOut])
    expect([id, text.includes(hint)]).toEqual([id, isLeftOut])
    if (!isLeftOut) continue
    seen += 1
    const { fields } = await timelineOf(house.context, record)
    const field = fields.find((each) => each.field === 'industry')
    expect(field).toMatchObject({ reason: 'no such option', state: 'rejected' })
    const cell = String(await html`${writeState(field as NonNullable<typeof field>, new Date())}`)
    expect(cell).toMatch(/>left out<\/span>.*no such option/)
  }
  expect(seen).toBeGreaterThan(0)
})
