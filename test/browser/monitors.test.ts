import { existsSync } from 'node:fs'
import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { applyMonitors } from '../../src/app/monitors/apply-monitors.ts'
import { compareMonitors, readMonitors } from '../../src/app/monitors/compare-monitors.ts'
import { indexRecords } from '../../src/app/records/index-records.ts'
import { API_KEY } from '../../src/sandbox/accounts.ts'
import { worldCompanies } from '../../src/sandbox/world/companies.ts'
import { collectComplaints } from './complaints.ts'
import { pressByKeyboard } from './keyboard.ts'
import { openStage, type Stage } from './stage.ts'
import { visitPages } from './visit-pages.ts'

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const secret = 'never-to-be-shown'
const operations = ['list', 'read', 'create', 'update', 'delete', 'logs'].map((name) => `monitor.${name}`)

describe.skipIf(!existsSync(executablePath))('the monitors of the desk in a browser', () => {
  let stage: Stage
  let browser: Browser
  let page: Page
  const complaints: string[] = []
  const { signal } = new AbortController()

  beforeAll(async () => {
    stage = await openStage({
      companies: 0,
      env: { PAYDIRT_API_KEY: API_KEY, PAYDIRT_MONITOR_SECRET: secret },
      config: {
        payment: { maxPricesUsd: Object.fromEntries(operations.map((operation) => [operation, '0.05'])) },
        monitors: {
          dach: {
            detection_mode: 'signal_first',
            signal_types: ['expansions', 'jobs'],
            filters: { tos: ['DE', 'AT', 'CH'] },
            onMatch: { connector: 'hubspot', note: true, budgetDayUsd: '2.50', budgetMonthUsd: '25' },
          },
          spain: { detection_mode: 'signal_first', signal_types: ['expansions'], filters: { tos: ['ES'] } },
        },
      },
    })
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
    page = await browser.newPage({ baseURL: stage.url, viewport: { width: 1280, height: 900 } })
    collectComplaints(page, stage.url, complaints)
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await stage?.close()
  })

  const visit = (when: string, paths: string[]) =>
    visitPages(paths, {
      browser,
      stage,
      when,
      watch: (watched) => collectComplaints(watched, stage.url, complaints),
      signedIn: undefined,
    })
  /** Waits for the end of an action: the page loads itself again until then. */
  const shows = (text: RegExp) => page.getByText(text).first().waitFor({ timeout: 60_000 })
  const deliver = (body: object) =>
    fetch(`${stage.url}/hooks/monitor`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', [stage.context.config.http.monitorHeader]: secret },
      body: JSON.stringify(body),
    })

  test('say what to do while none is made, and show none twice', async () => {
    await page.goto('/monitors')
    await shows(/not made yet/)
    expect(await visit('declared', ['/monitors', '/monitors/dach'])).toEqual([])
  })

  test('show deliveries by outcome, and what came of them', async () => {
    const { steps } = await compareMonitors(stage.context, { signal })
    const applied = await applyMonitors(stage.context, steps, { prune: false, replace: false, signal })
    expect(applied.map(({ state }) => state)).toEqual(['done', 'done'])
    const id = applied.find(({ step }) => step.name === 'dach')!.id!
    await indexRecords(stage.context, stage.context.connectors.get('hubspot')!, 'companies', {
      rebuild: true,
      signal,
    })
    for (const [at, { name, domain }] of worldCompanies().slice(0, 4).entries()) {
      const body = {
        monitor: { monitor_id: id, name: 'dach [paydirt dach]' },
        triggered_at: new Date().toISOString(),
        signals: [{ signal_id: `s${at}`, type: 'expansion', title: 'It expands', company: { name, domain } }],
      }
      for (let time = 0; time < 2; time += 1) expect((await deliver(body)).status).toBeLessThan(300)
    }
    await expect
      .poll(
        async () => (
          await page.goto('/monitors/dach'),
          page.locator('.badge', { hasText: 'unknown' }).count()
        ),
        {
          timeout: 60_000,
        },
      )
      .toBe(4)
    await expect
      .poll(async () => (await page.goto('/monitors'), page.locator('.stacks').first().innerText()), {
        timeout: 30_000,
      })
      .toMatch(/\d (worked|repeated)/)
    expect(await visit('delivered', ['/monitors', '/monitors/dach'])).toEqual([])
  })

  test('compare, pause and resume by the keyboard alone, and a page asks the service nothing', async () => {
    await page.goto('/monitors')
    await pressByKeyboard(page, /^Compare now$/)
    await shows(/every monitor at the service is as the settings say/)
    const { byEndpoint } = stage.sandbox.stats()
    for (const path of ['/monitors', '/monitors/dach', '/monitors/spain']) await page.goto(path)
    expect(stage.sandbox.stats().byEndpoint).toEqual(byEndpoint)

    await pressByKeyboard(page, /^Pause$/)
    await pressByKeyboard(page, /^Yes, pause it at the service$/)
    await shows(/It is paused at the service now/)
    const statusOf = async (name: string) =>
      (await readMonitors(stage.context, signal)).find(({ fields }) =>
        String(fields['name']).startsWith(name),
      )?.fields['status']
    expect(await statusOf('spain')).toBe('paused')
    await page.goto('/monitors')
    await pressByKeyboard(page, /^Compare now$/)
    await shows(/1 monitor at the service is not as the settings say/)
    await page.goto('/monitors/spain')
    await page.getByRole('heading', { level: 2, name: 'Differences' }).waitFor()
    expect(await visit('drifted', ['/monitors', '/monitors/spain', '/audit'])).toEqual([])
    expect(await page.content()).not.toContain(secret)
    await page.goto('/monitors/spain')
    await page.getByText(/^Resume$/).click()
    await page.getByRole('button', { name: 'Yes, resume it at the service' }).click()
    await shows(/It is active at the service now/)
    expect(await statusOf('spain')).toBe('active')
    expect(complaints).toEqual([])
  })
})
