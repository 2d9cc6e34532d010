import { afterAll, beforeAll, expect, test } from 'vitest'
import { personAnswer } from '../../src/sandbox/data/person.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { openDesk, type Desk } from '../support/cli.ts'
import { hintsIn, refusalOf, wordsOf } from '../support/examples.ts'

let sandbox: Sandbox
let desk: Desk

const people = Array.from({ length: 60 }, (_, index) => `https://www.profnet.com/in/tilda-mohr-${index}`)
  .filter((url) => personAnswer(url).data !== null)
  .slice(0, 3)

beforeAll(async () => {
  sandbox = await startSandbox()
  desk = await openDesk(sandbox)
})
afterAll(async () => {
  await desk.close()
  await sandbox.stop()
})

interface Document {
  runId: string
  [key: string]: unknown
}

test('a run is text that a person reads, and JSON for machines, with its file', async () => {
  await desk.write('my leads.csv', `profnet_url\n${people.join('\n')}\nhttps://www.profnet.com/no/one\n`)
  const csv = ['csv', 'my leads.csv', '--object', 'person', '--out', 'out.csv']
  const cut = await desk.run([...csv, '--json'], { PAYDIRT_BUDGET_RUN_USD: '0.02' })
  expect(cut.status).toBe(3)
  const { runId } = cut.json<Document>()

  const parked = await desk.run(['runs', runId])
  expect(parked).toMatchObject({ status: 0, stderr: '' })
  for (const part of [
    `run ${runId}: parked\n`,
    'my leads.csv, person, 4 records',
    'by paydirt csv',
    /^ {2}read +4$/m,
    /^ {2}looked up +2$/m,
    /^ {2}written +2\b/m,
    /^ {2}parked +1$/m,
    'spent: 0.020000 USD',
    // The late one of the three is a matter of milliseconds.
    /^ {2}1 parked: .*\(line [234]\)$/m,
    /^ {2}1 rejected: .*\(line 5\)$/m,
    'raise PAYDIRT_BUDGET_RUN_USD',
    /`paydirt csv '\S+my leads\.csv' --object person --recipe \w+ --out out\.csv` continues it/,
  ])
    expect(parked.stdout).toMatch(part)

  const stopped = await desk.run(['runs', runId, '--stop', 'wrong file'])
  expect(stopped).toMatchObject({
    status: 0,
    stdout: expect.stringContaining('nothing more is bought for it'),
  })
  const held = await desk.run(['runs', runId])
  expect(held.stdout).toMatch(/stopped by .*: wrong file/)
  expect(held.stdout).toContain(`paydirt runs ${runId} --resume`)
  expect(await desk.run(csv)).toMatchObject({ status: 2, stderr: expect.stringContaining('wrong file') })
  const resumed = await desk.run(['runs', runId, '--resume'])
  expect(resumed).toMatchObject({
    status: 0,
    stdout: expect.stringContaining("my leads.csv' --object person --recipe"),
  })
  expect((await desk.run(['runs', runId, '--resume'])).status).toBe(0)

  expect((await desk.run(csv)).status).toBe(0)
  expect((await desk.run(['runs', runId, '--stop'])).status).toBe(2)
  const finished = await desk.run(['runs', runId])
  expect(finished.stdout).toMatch(/^ended|^ {2}ended /m)
  for (const hint of hintsIn(parked.stdout + finished.stdout))
    expect([hint, await refusalOf(wordsOf(hint))]).toEqual([hint, undefined])

  const document = (await desk.run(['runs', runId, '--json'])).json<Document>()
  expect(document).toMatchObject({
    runId,
    connector: 'csv',
    object: 'person',
    records: 4,
    // The keys that scripts know.
    lookups: { unique: 3, paid: 3 },
    tasks: { written: 3, rejected: 1, parked: 0 },
    spend: { currency: 'USD', settled: '0.030000' },
    // And those of a person.
    state: 'finished',
    file: 'my leads.csv',
    path: desk.at('my leads.csv'),
    trigger: 'csv',
    schedule: null,
    scanned: true,
    funnel: { read: 4, lookedUp: 3, matched: 3, written: 3, changed: 0 },
    waiting: [],
    next: [expect.stringContaining(`paydirt report ${runId}`)],
  })
  expect((await desk.run(['runs'])).stdout).toContain('my leads.csv')
})

test('a row of a file has its file in its history', async () => {
  const history = await desk.run(['history', 'csv:person:2', '--json'])
  expect(history.json()).toMatchObject({ tasks: [{ file: 'my leads.csv', status: 'written' }] })
  expect((await desk.run(['history', 'csv:person:2'])).stdout).toMatch(/ my leads\.csv written/)
})

test('the same line of two files is two records, each with source, price and what the row had', async () => {
  await desk.write('other.csv', `profnet_url,job_title\n${people[0]},Miller\n`)
  const other = ['csv', 'other.csv', '--object', 'person', '--out', 'other-out.csv', '--json']
  const { runId } = (await desk.run(other)).json<Document>()
  const both = (await desk.run(['history', 'csv:person:2'])).stdout
  expect(both).toContain('line 2 of 2 files, which are different records: my leads.csv, other.csv. --run RUN')
  expect(both).toMatch(/\n {4}from person\.profile\|\S+, 0\.010000 USD in this run\n {6}\w+: /)
  const one = await desk.run(['history', 'csv:person:2', '--run', runId])
  expect(one.stdout).not.toContain('my leads.csv')
  expect(one.stdout).toMatch(
    /\d\d \d\d:\d\d UTC other\.csv written\n {4}from person\.profile\|\S+, 0\.000000 USD/,
  )
  expect(one.stdout).toMatch(/ job_title: \(the row's own stays\), beside it "/)
  expect(one.stdout).toMatch(/ full_name: \(blank\) → "/)
  expect(await desk.run(['history', 'csv:person:9', '--run', runId])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining(`no record csv:person:9 in run ${runId}`),
  })
})

test('a run that is not there is named', async () => {
  expect(await desk.run(['runs', 'r00000000000000'])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('there is no run r00000000000000'),
  })
})
