import { existsSync } from 'node:fs'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { hashPassword } from '../../src/http/desk/access/password.ts'
import { canonicalDomain } from '../../src/domain/keys.ts'
import { parseUsd } from '../../src/domain/money.ts'
import { collectComplaints } from './complaints.ts'
import { openStage, type Stage } from './stage.ts'
import { visitPages } from './visit-pages.ts'

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const hasChromium = existsSync(executablePath)
if (!hasChromium)
  console.warn(
    `SKIPPED: the desk was not tested in a browser, because there is none at ${executablePath} (set CHROMIUM)`,
  )

const password = 'ada may do it all'

describe.skipIf(!hasChromium)('the desk in a browser', () => {
  let stage: Stage
  let browser: Browser
  let context: BrowserContext
  let page: Page
  const complaints: string[] = []
  let planPath = ''

  beforeAll(async () => {
    stage = await openStage({
      companies: 240,
      env: { PAYDIRT_ADMIN_PASSWORD_HASH: await hashPassword(password) },
      // Slow enough for the test to stop it in the middle.
      config: {
        pacing: { startPerSecond: 4, maxPerSecond: 4 },
        schedules: {
          nightly: { connector: 'hubspot', cron: '0 2 * * *', timeZone: 'Europe/Berlin', stopAt: '06:00' },
        },
      },
    })
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
    context = await browser.newContext({ baseURL: stage.url, viewport: { width: 1280, height: 900 } })
    page = await context.newPage()
    watch(page)
  })
  afterAll(async () => {
    await browser?.close()
    await stage?.close()
  })

  const watch = (watched: Page) => collectComplaints(watched, stage.url, complaints)
  const loadedAt = 'performance.timeOrigin'
  const charges = () => stage.context.database.db.selectFrom('charges').selectAll().execute()
  const ended = async () =>
    Number(
      ((await page.locator('#now-runs .run-count strong').first().textContent()) ?? '0').replace(/\D/g, ''),
    )

  const cost = async () =>
    Number(
      ((await page.locator('#now-runs .run-cost').first().textContent()) ?? '$0').trim().replace('$', ''),
    )

  test('has a sign-in', async () => {
    await page.goto('/')
    expect(new URL(page.url()).pathname).toBe('/sign-in')
    await page.getByLabel('Name').fill('admin')
    await page.getByLabel('Password').fill('wrong')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('alert').waitFor()
    // The browser reports the 401 of the wrong password.
    complaints.splice(0)
    await page.getByLabel('Name').fill('admin')
    await page.getByLabel('Password').fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor()
  })

  test('has a sign-in page without findings of axe', async () => {
    expect(await visit('first', ['/sign-in'], { isSignedIn: false })).toEqual([])
  })

  test('shows the plan of a sync of HubSpot, starts it, and its progress updates live', async () => {
    await page.getByRole('link', { name: 'Plan a sync of HubSpot companies' }).click()
    await page.getByLabel('Limit').fill('')
    await page.getByRole('button', { name: 'Show the plan' }).click()
    await page.getByRole('heading', { name: 'Start this sync?' }).waitFor()
    expect(await charges()).toEqual([])
    expect(await stage.context.runs.list(10)).toEqual([])
    planPath = new URL(page.url()).pathname
    expect(await visit('made', ['/sync', planPath])).toEqual([])
    await page.getByRole('button', { name: /^Yes, start it and spend up to \$/ }).dblclick()
    await page.getByText('Sync started.').waitFor()
    expect(await stage.context.runs.list(10)).toHaveLength(1)
    await page.goto('/')
    await page.locator('#now-runs .run').waitFor()
    await expect.poll(ended, { timeout: 30_000 }).toBeGreaterThan(0)
    await expect.poll(async () => (await charges()).length, { timeout: 30_000 }).toBeGreaterThan(3)
    const [endedBefore, costBefore] = [await ended(), await cost()]
    const loads = await page.evaluate(loadedAt)
    await expect.poll(cost, { timeout: 60_000 }).toBeGreaterThan(costBefore)
    await expect.poll(ended, { timeout: 60_000 }).toBeGreaterThan(endedBefore)
    expect(await page.evaluate(loadedAt)).toBe(loads)
  })

  test('stops all spending within a second of the kill switch', async () => {
    expect((await charges()).filter(({ state }) => state === 'settled').length).toBeLessThan(90)
    await page.getByText('Stop spending').click()
    await page.getByLabel('Reason').fill('a test')
    const clickedAt = Date.now()
    await page.getByRole('button', { name: 'Yes, stop all spending' }).click()
    await page.locator('#spending').getByText('Spending is stopped').waitFor()
    const shownAt = Date.now()
    await expect
      .poll(async () => (await stage.context.tasks.counts(await runId())).parked, { timeout: 60_000 })
      .toBeGreaterThan(0)
    // Measured by the ledger's timestamps. This project runs after all others, because a busy machine would distort it.
    const stoppedAt = (await stage.context.spendSwitch.isStopped())?.since.getTime() ?? 0
    const last = Math.max(...(await charges()).map(({ created_at }) => created_at.getTime()))
    console.info(
      `the last payment began ${last - clickedAt} ms after the click, ${last - stoppedAt} ms after the stop was in the ledger`,
    )
    expect(stoppedAt).toBeGreaterThanOrEqual(clickedAt)
    expect(last).toBeLessThanOrEqual(shownAt)
    expect(last - stoppedAt).toBeLessThan(1_000)
    expect(last - clickedAt).toBeLessThan(1_000)
    await page.locator('#now-parked li').first().waitFor()
    expect(await page.locator('#now-parked').textContent()).toContain('spending is stopped')
  })

  test('shows each page while work is parked, without findings of axe in either theme', async () => {
    expect(await visit('parked', ['/', '/failures', '/audit'])).toEqual([])
  })

  test('resumes, and the run ends', async () => {
    const before = (await charges()).length
    await page.goto('/')
    await page.getByText('Resume spending').click()
    await page.getByRole('button', { name: 'Yes, resume' }).click()
    await page.getByText('Spending is on again.').waitFor()
    await expect
      .poll(async () => (await stage.context.runs.get(await runId()))?.state, {
        timeout: 120_000,
        interval: 500,
      })
      .toBe('finished')
    expect((await charges()).length).toBeGreaterThan(before)
  })

  test("opens a record's timeline from its run", async () => {
    await page.goto('/runs')
    await page.getByRole('link', { name: 'HubSpot companies' }).first().click()
    await page.getByRole('link', { name: 'written', exact: true }).click()
    await page.locator('section[aria-labelledby=records-title] tbody small a').first().click()
    await page.getByRole('heading', { name: 'Fields written' }).waitFor()
    const id = new URL(page.url()).searchParams.get('q')?.split(':').at(-1) ?? ''
    const writes = await stage.context.database.db
      .selectFrom('field_writes')
      .select(['field', 'new_value'])
      .where('record_id', '=', id)
      .execute()
    const timeline = (await page.locator('section[aria-labelledby=fields-title]').textContent()) ?? ''
    expect(writes.length).toBeGreaterThan(0)
    for (const { field, new_value } of writes) {
      expect(timeline).toContain(field.replaceAll('_', ' '))
      expect(timeline).toContain(String(new_value))
    }
    await expect(page.locator('section[aria-labelledby=lookups-title]').textContent()).resolves.toContain(
      'settled',
    )
  })

  test('finds a record by its domain, which is not in the address, and opens its task and its page in the CRM', async () => {
    const { identity } = await stage.context.database.db
      .selectFrom('tasks')
      .select('identity')
      .where('status', '=', 'written')
      .limit(1)
      .executeTakeFirstOrThrow()
    const domain = canonicalDomain(identity.domain ?? '')
    if (!domain.ok) throw new Error('the record has no domain')
    await page.goto('/records')
    await page.getByLabel('Find a record').fill(`https://WWW.${domain.value}/`)
    await page.getByRole('button', { name: 'Find' }).click()
    await page.locator('section[aria-labelledby=found-title] tbody a').first().click()
    expect(decodeURIComponent(page.url())).not.toContain(domain.value)
    await page.getByRole('heading', { name: 'Asked with' }).waitFor()
    await expect(page.locator('main').textContent()).resolves.toContain(domain.value)
    const link = page.getByRole('link', { name: 'open in HubSpot' })
    expect(await link.getAttribute('href')).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+\/contacts\/\d+\/record\/0-2\/\d+$/,
    )
  })

  test('shows the totals of the ledger, which match the chain', async () => {
    await page.goto('/spend')
    await page.getByRole('button', { name: 'Reconcile now' }).click()
    await page.getByText('no differences').waitFor()
    const shown = (await page.locator('.tile', { hasText: 'Settled' }).locator('.value').textContent()) ?? ''
    const settled = (await charges()).filter(({ state }) => state === 'settled')
    const ledger = settled.reduce((sum, { amount_atomic }) => sum + amount_atomic, 0n)
    expect(parseUsd(shown.trim().replace('$', ''))).toBe(ledger)
    const chain = (await stage.transfers()).reduce((sum, { amountAtomic }) => sum + amountAtomic, 0n)
    expect(chain).toBe(ledger)
    const days = await page
      .locator('#spend-days tr[data-day]')
      .evaluateAll((rows) =>
        rows.map((row) => (row as unknown as { dataset: Record<string, string> }).dataset['settled'] ?? '0'),
      )
    expect(days.reduce((sum, amount) => sum + parseUsd(amount), 0n)).toBe(ledger)
    await page.locator('#spend-chart[data-drawn] canvas').waitFor()
  })

  test('shows each page at two widths and in both themes, without findings of axe', async () => {
    const run = await runId()
    const record = await stage.context.database.db
      .selectFrom('tasks')
      .select(['id', 'record_id'])
      .where('status', '=', 'written')
      .limit(1)
      .executeTakeFirstOrThrow()
    const found = await visit('done', [
      '/',
      '/runs',
      `/runs/${run}`,
      `/records?q=hubspot:companies:${record.record_id}`,
      '/records?state=written',
      `/tasks/${record.id}`,
      '/spend',
      '/charts',
      '/failures',
      '/contract',
      '/contract/job.search',
      '/settings',
      '/audit',
      '/queues',
      planPath,
    ])
    expect(found).toEqual([])
  })

  test('shows the queue board in the theme of the desk, also against that of the system', async () => {
    const isDark = () => page.evaluate('document.body.classList.contains("dark-mode")')
    for (const theme of ['dark', 'light'] as const) {
      await page.goto('/')
      await page.emulateMedia({ colorScheme: theme === 'dark' ? 'light' : 'dark' })
      await page.locator(`.themes button[value=${theme}]`).click()
      await page.goto('/queues')
      await page.getByText('write-back').first().waitFor()
      expect([theme, await isDark()]).toEqual([theme, theme === 'dark'])
    }
    await page.goto('/')
    await page.locator('.themes button[value=auto]').click()
    await page.emulateMedia({ colorScheme: null })
  })

  test('works without a script: the kill switch is a form in a disclosure', async () => {
    const plain = await browser.newContext({
      baseURL: stage.url,
      javaScriptEnabled: false,
      storageState: await context.storageState(),
    })
    try {
      const bare = await plain.newPage()
      await bare.goto('/')
      await bare.locator('summary.kill').click()
      await bare.getByRole('button', { name: 'Yes, stop all spending' }).click()
      await bare.locator('#spending').getByText('Spending is stopped').waitFor()
      expect(await stage.context.spendSwitch.isStopped()).toBeDefined()
      await bare.locator('#spending summary').click()
      await bare.getByRole('button', { name: 'Yes, resume' }).click()
      await bare.getByText('Spending is on again.').waitFor()
      expect(await stage.context.spendSwitch.isStopped()).toBeUndefined()
    } finally {
      await plain.close()
    }
  })

  test('loads nothing from another host, and nothing that its content security policy blocks', () => {
    expect(complaints).toEqual([])
  })

  function visit(when: string, paths: string[], { isSignedIn = true } = {}): Promise<string[]> {
    return visitPages(paths, { browser, stage, when, watch, signedIn: isSignedIn ? context : undefined })
  }

  async function runId(): Promise<string> {
    const [run] = await stage.context.runs.list(1)
    if (!run) throw new Error('there is no run')
    return run.id
  }
})
