import { existsSync } from 'node:fs'
import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { API_KEY } from '../../src/sandbox/accounts.ts'
import { worldCompanies } from '../../src/sandbox/world/companies.ts'
import { collectComplaints } from './complaints.ts'
import { pressByKeyboard } from './keyboard.ts'
import { openStage, type Stage } from './stage.ts'
import { visitPages } from './visit-pages.ts'

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const operations = [
  'company.search',
  'job.search',
  'news.search',
  'advertisement.search',
  'cloud.search',
  'expansion.lookup',
]
const begins = Date.parse('2026-11-02T08:00:00Z')
const dayMs = 86_400_000

describe.skipIf(!existsSync(executablePath))('the signals of the desk in a browser', () => {
  let stage: Stage
  let browser: Browser
  let page: Page
  let passedMs = 0
  const complaints: string[] = []
  const startedMs = performance.now()
  /** A clock that goes on, from a day on which the sandbox's world is known. */
  const now = () => new Date(begins + passedMs + performance.now() - startedMs)

  beforeAll(async () => {
    stage = await openStage({
      companies: 0,
      config: {
        payment: { maxPricesUsd: Object.fromEntries(operations.map((operation) => [operation, '0.05'])) },
        signals: {
          customers: { accounts: { connector: 'hubspot' }, budgetUsd: '5', budgetMonthUsd: '50' },
          clouds: { accounts: { connector: 'hubspot' }, types: ['cloud'], write: false },
        },
      },
      env: { PAYDIRT_API_KEY: API_KEY },
      now,
    })
    stage.sandbox.clock.set(now())
    for (const { name, domain } of worldCompanies().slice(0, 40))
      stage.hubspot.store.add('companies', { properties: { name, domain } })
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
  const run = async () => {
    await pressByKeyboard(page, /^Run$/)
    await pressByKeyboard(page, /^Yes, run within the budget$/)
    // The page loads itself again until the run has ended.
    await page.getByText(/answers? bought/).waitFor({ timeout: 40_000 })
  }

  test('say what to do before a pipeline has run, and what it may cost', async () => {
    await page.goto('/signals')
    await page.getByText('Nothing was observed yet.', { exact: false }).waitFor()
    await pressByKeyboard(page, /^Plan$/)
    await page.getByText(/40 accounts, 200 checks due/).waitFor({ timeout: 60_000 })
    expect(await visit('planned', ['/signals'])).toEqual([])
  })

  test('run a pipeline by the keyboard alone, and show what moved, with the evidence', async () => {
    await run()
    passedMs = 8 * dayMs
    stage.sandbox.clock.set(now())
    await page.goto('/signals')
    await run()
    await page.locator('.evidence').first().waitFor()
    expect(await page.getByText('Moved this week').count()).toBe(1)
    expect(
      await visit('moved', ['/signals', '/signals?show=all', '/signals?days=30&show=moved&page=2']),
    ).toEqual([])
    await pressByKeyboard(page, /^moved \d+$/)
    await page.locator('.stacks tbody th a').first().click()
    await page.getByRole('heading', { level: 2, name: 'Timeline' }).waitFor()
    const { pathname, search } = new URL(page.url())
    expect(await visit('account', [pathname + search, '/audit'])).toEqual([])
    expect(complaints).toEqual([])
  })
})
