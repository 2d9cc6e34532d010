import { existsSync } from 'node:fs'
import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readList } from '../../src/app/lists/pages/read-list.ts'
import { judgedRows } from '../../src/app/lists/judging/judged-rows.ts'
import { listCalls } from '../../src/app/lists/pages/list-calls.ts'
import { indexRecords } from '../../src/app/records/index-records.ts'
import { collectComplaints } from './complaints.ts'
import { pressByKeyboard } from './keyboard.ts'
import { openStage, type Stage } from './stage.ts'
import { visitPages } from './visit-pages.ts'

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'

describe.skipIf(!existsSync(executablePath))('the lists of the desk in a browser', () => {
  let stage: Stage
  let browser: Browser
  let page: Page
  let planPath = ''
  const complaints: string[] = []

  beforeAll(async () => {
    stage = await openStage({
      companies: 20,
      config: {
        payment: { maxPricesUsd: { 'company.search': '0.05' } },
        lists: {
          german: {
            search: 'company.search',
            filters: { countries: ['DE'] },
            into: { connector: 'hubspot', entity: 'companies', set: { lifecyclestage: 'lead' } },
            limit: 60,
            budgetUsd: '1',
          },
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

  test('buy by the keyboard alone, after a question that names the most it costs', async () => {
    await page.goto('/lists')
    await pressByKeyboard(page, /^german$/)
    await page.getByRole('heading', { level: 1, name: 'german' }).waitFor()
    await pressByKeyboard(page, /^Preview$/)
    await pressByKeyboard(page, /^Yes, buy page 1 for up to \$0\.05$/)
    // The page loads itself again until the action has ended.
    await page.getByText(/1 page bought/).waitFor({ timeout: 60_000 })
    await pressByKeyboard(page, /^Fetch$/)
    await pressByKeyboard(page, /^Yes, fetch within the budget$/)
    await page.getByText(/2 pages bought/).waitFor({ timeout: 60_000 })
    const charges = await stage.context.database.db.selectFrom('charges').selectAll().execute()
    expect(charges.map(({ state }) => state)).toEqual(['settled', 'settled', 'settled'])
    expect(await visit('fetched', ['/lists', '/lists/german?verdict=new'])).toEqual([])
  })

  test('review rows that wait, by the keyboard alone', async () => {
    const calls = await listCalls(stage.context, 'german', { asks: false })
    expect((await readList(stage.context, calls)).rows).toBe(60)
    const names: string[] = []
    for await (const rows of judgedRows(stage.context, calls))
      names.push(...rows.map(({ row }) => String(row.values['company_name'])))
    for (const name of [names[0]!, names[1]!, names[1]!, names[2]!, names[3]!])
      stage.hubspot.store.add('companies', { properties: { name } })
    await indexRecords(stage.context, stage.context.connectors.get('hubspot')!, 'companies', {
      rebuild: true,
      signal: new AbortController().signal,
    })
    await expect
      .poll(async () => (await page.goto('/lists/german/review'), page.locator('.review > li').count()), {
        timeout: 30_000,
      })
      .toBe(4)
    expect(await visit('waiting', ['/lists/german/review'])).toEqual([])
    await pressByKeyboard(page, /^Same: record \d+$/)
    await page.getByText('The answer is kept.').waitFor()
    await pressByKeyboard(page, /^New: none of them$/)
    await page.getByText('The answer is kept.').waitFor()
    await pressByKeyboard(page, /^Never a record$/)
    await expect.poll(() => page.locator('.review > li').count()).toBe(1)
    expect(await visit('answered', ['/lists/german', '/lists/german/review'])).toEqual([])
  })

  test('make the records of a plan, and no others', async () => {
    await page.goto('/lists/german')
    await page.getByRole('button', { name: 'Plan the records' }).click()
    await page.getByRole('link', { name: /Look at the plan/ }).click({ timeout: 60_000 })
    planPath = new URL(page.url()).pathname
    expect(await visit('made', [planPath])).toEqual([])
    const before = [...stage.hubspot.store.list('companies')].length
    await page.getByRole('button', { name: /^Yes, make 57 records at no cost$/ }).click()
    await page.getByText(/57 records made/).waitFor({ timeout: 120_000 })
    expect([...stage.hubspot.store.list('companies')].length - before).toBe(57)
    expect(await visit('applied', [planPath, '/lists/german', '/audit'])).toEqual([])
    expect(complaints).toEqual([])
  })
})
