import { existsSync } from 'node:fs'
import { chromium, type Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHubspotStandIn } from '../../src/sandbox/hubspot/index.ts'
import { visitPages } from './visit-pages.ts'

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const hasChromium = existsSync(executablePath)

describe.skipIf(!hasChromium)('the page of a stand-in in a browser', () => {
  let standIn: Awaited<ReturnType<typeof startHubspotStandIn>>
  let browser: Browser
  let id: string

  beforeAll(async () => {
    standIn = await startHubspotStandIn({
      seed: 7,
      companies: 60,
      contacts: 2,
      pages: { paydirtUrl: () => 'http://127.0.0.1:1' },
    })
    const properties = {
      name: 'x'.repeat(5000),
      domain: 'y'.repeat(5000),
      city: '\u202eمدير المبيعات',
      description: `a\u0007b ${'z'.repeat(5000)}`,
    }
    id = standIn.store.add('companies', { properties }).id
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  })
  afterAll(async () => {
    await browser?.close()
    await standIn?.stop()
  })

  test('saves what a person enters, and says what the button of the CRM was answered', async () => {
    const [company] = standIn.store.list('companies')
    const page = await browser.newPage()
    await page.goto(`${standIn.baseUrl}/_sandbox/companies/${company!.id}`)
    await page.getByLabel('Field').selectOption('founded_year')
    await page.getByLabel('Value').fill('1899')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('by a person, on this page, was blank').waitFor()
    expect(company!.properties['founded_year']).toBe('1899')
    await page.getByRole('button', { name: 'Enrich now' }).click()
    await page.getByRole('status').getByText('Paydirt does not answer at http://127.0.0.1:1').waitFor()
    await page.close()
  })

  test('on a phone breaks no time but between day and hour, and keeps its records close', async () => {
    const page = await browser.newPage({ viewport: { width: 390, height: 844 } })
    await page.goto(`${standIn.baseUrl}/_sandbox/companies`)
    // A text, because tests have no types of the browser.
    const times = await page.evaluate<{ lines: number; parts: number[] }[]>(`
      [...document.querySelectorAll('.list time')].map((each) => ({
        lines: new Set([...each.children].flatMap((part) => [...part.getClientRects()].map(({ top }) => top))).size,
        parts: [...each.children].map((part) => part.getClientRects().length),
      }))`)
    expect(times).toHaveLength(50)
    for (const { lines, parts } of times)
      expect({ lines: lines <= 2, parts }).toEqual({ lines: true, parts: [1, 1] })
    const [height, width] = await page.evaluate<[number, number]>(
      '[document.documentElement.scrollHeight, document.documentElement.scrollWidth]',
    )
    expect(width).toBeLessThanOrEqual(390)
    expect(height).toBeLessThan(3_600)
    await page.close()
  })

  test('has no serious findings of axe at two widths and in both themes, whatever stands in a record', async () => {
    const complaints: string[] = []
    const found = await visitPages(['/_sandbox/companies', `/_sandbox/companies/${id}`], {
      browser,
      stage: { url: standIn.baseUrl },
      when: 'stand-in',
      watch: (page) => page.on('console', (message) => void complaints.push(message.text())),
      signedIn: undefined,
    })
    expect({ found, complaints }).toEqual({ found: [], complaints: [] })
  })
})
