import { afterAll, beforeAll, expect, test } from 'vitest'
import { deskAccess } from '../../src/app/config/desk.ts'
import { openDesk, type Desk } from '../../src/app/web/desk.ts'
import { stopOneRun } from '../../src/app/runs/stop-run.ts'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { createAuditLog } from '../../src/store/access/audit.ts'
import { openCrmHouse, type CrmHouse } from './crm-house.ts'
import { listRuns } from '../../src/app/runs/run-list.ts'
import { describeRun } from '../../src/app/runs/run-detail.ts'
import { runText } from '../../src/cli/runs/print-run.ts'

let sandbox: Sandbox
let house: CrmHouse
let desk: Desk
const stopping = new AbortController()
const origin = 'http://127.0.0.1:8080'

beforeAll(async () => {
  sandbox = await startSandbox()
  house = await openCrmHouse(sandbox)
  desk = await openDesk(house.context, {
    access: deskAccess(house.context.config.desk, '127.0.0.1', undefined),
    signal: stopping.signal,
  })
})
afterAll(async () => {
  stopping.abort()
  await desk.close()
  await house.close()
  await sandbox.stop()
})

const urlOf = (name: string) => `https://www.profnet.com/company/${name}`
const known = Array.from({ length: 60 }, (_, index) => `desk-undo-${index}`)
  .filter((name) => companyAnswer(urlOf(name)).data?.description)
  .slice(0, 4)

/** A browser that keeps its cookies. */
function browser() {
  const cookies = new Map<string, string>()
  let csrf = ''
  return async function ask(path: string, form?: Record<string, string>) {
    const answer = await desk.app.request(
      `${origin}${path}`,
      {
        method: form ? 'POST' : 'GET',
        headers: {
          host: '127.0.0.1:8080',
          accept: 'text/html',
          origin,
          cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
          ...(form ? { 'content-type': 'application/x-www-form-urlencoded' } : {}),
        },
        ...(form ? { body: new URLSearchParams({ _csrf: csrf, ...form }).toString() } : {}),
      },
      { incoming: { socket: { remoteAddress: '127.0.0.1' } } },
    )
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    const text = (await answer.text()).replaceAll(/\s+/g, ' ')
    csrf = /name="_csrf" value="([^"]+)"/.exec(text)?.[1] ?? csrf
    return { status: answer.status, headers: answer.headers, text }
  }
}

test('an undo shows its plan, asks, restores what nobody has changed, and is audited', async () => {
  const ids = known.map((name) => house.add('companies', { name, profnet_url: urlOf(name) }))
  const before = house.seen('companies')
  const { summary } = await house.sync('companies')
  const { runId } = summary
  house.edit('companies', ids[0] ?? '', { description: 'by <b>hand</b>' })
  const after = house.seen('companies')
  const ask = browser()

  const page = await ask(`/runs/${runId}`)
  expect(page.text).toContain(`href="/runs/${runId}/undo"`)
  const plan = await ask(`/runs/${runId}/undo`)
  const { restored } = await house.undo(runId, { plan: true })
  expect(plan.text).toContain(
    `<strong>${restored} fields</strong> in ${ids.length} records would get the old value`,
  )
  expect(plan.text).toContain('1 would be left as they are')
  expect(plan.text).toContain('it has been changed since')
  for (const name of known) expect(plan.text.includes(`<bdi>${name}</bdi> <small><a`)).toBe(true)
  expect(plan.text).toContain('by &lt;b&gt;hand&lt;/b&gt;')
  expect(house.seen('companies')).toEqual(after)

  expect((await ask(`/runs/${runId}/undo`, {})).headers.get('location')).toBe(`/runs/${runId}/undo`)
  await expect
    .poll(async () => (await ask(`/runs/${runId}/undo`)).text, { timeout: 20_000 })
    .toContain(`${restored} fields restored`)
  expect(house.seen('companies')).toEqual(
    new Map(before).set(ids[0] ?? '', { ...before.get(ids[0] ?? ''), description: 'by <b>hand</b>' }),
  )
  const audit = createAuditLog(house.context.database.db, { now: () => new Date() })
  await expect
    .poll(async () => (await audit.list(2)).map(({ action, target, details }) => [action, target, details]))
    .toEqual([
      ['run.undone', runId, { restored, already: 0, left: 1 }],
      ['run.undo', runId, undefined],
    ])
  // A run that was undone does not look like one that stands.
  const amount = `${restored} of ${restored + 1} fields`
  const listed = await ask('/runs')
  expect(listed.text).toContain(`<span class="badge warn" title="${amount}">undone in part</span>`)
  const shown = await ask(`/runs/${runId}`)
  expect(shown.text).toMatch(
    new RegExp(`undone in part</span> ${amount} have their old value again, since <time`),
  )
  const { context } = house
  const undone = { fields: restored, of: restored + 1, at: expect.any(Date) }
  expect(await listRuns(context, 1)).toMatchObject([{ runId, state: 'finished', undone }])
  const detail = await describeRun(context, runId)
  expect(detail).toMatchObject({ undone, next: expect.arrayContaining([expect.stringContaining('undo')]) })
  expect(runText(detail)).toMatch(
    new RegExp(`: finished, undone in part\n(.*\n)+ {2}undone +${amount}, 2.* UTC\n`),
  )

  // There is nothing left to do, and the page says so.
  const again = await ask(`/runs/${runId}/undo`)
  expect(again.text).toContain('<strong>0 fields</strong>')
  expect(again.text).not.toContain('Yes, undo this run')
})

test('a run that is not over is stopped first', async () => {
  const { context } = house
  const ask = browser()
  const { run } = await context.runs.open({
    id: 'r-open',
    connector: 'hubspot',
    object: 'company',
    entity: 'companies',
    recipe: 'profile',
    trigger: 'sync',
    fingerprint: 'open',
    source: {},
  })
  const page = await ask(`/runs/${run.id}/undo`)
  expect(page.text).toContain('stop it on its page first')
  expect(page.text).not.toContain('Yes, undo this run')
  expect((await ask(`/runs/${run.id}/undo`, {})).status).toBe(409)
  await stopOneRun(context, run.id, { by: 'otto', reason: '' })
  expect((await ask(`/runs/${run.id}/undo`)).text).toContain('No field would be restored.')
})
