import { existsSync } from 'node:fs'
import { chromium, type Browser, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeReady } from '../../src/app/runs/sync.ts'
import type { Verdict } from '../../src/domain/champions/moved.ts'
import { member } from '../../src/sandbox/data/directory.ts'
import { championsOf, saveChampion } from '../../src/store/champions/champions.ts'
import { collectComplaints } from './complaints.ts'
import { pressByKeyboard } from './keyboard.ts'
import { openStage, type Stage } from './stage.ts'
import { visitPages } from './visit-pages.ts'

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'

describe.skipIf(!existsSync(executablePath))('the champions of the desk in a browser', () => {
  let stage: Stage
  let browser: Browser
  let page: Page
  const complaints: string[] = []
  const people = Array.from({ length: 40 }, (_, index) => member(index)).filter(({ unknown }) => !unknown)

  beforeAll(async () => {
    stage = await openStage({
      companies: 0,
      config: { champions: { customers: { connector: 'hubspot', budgetUsd: '5', budgetMonthUsd: '50' } } },
    })
    await makeReady(stage.context.connectors.get('hubspot')!, ['contacts'])
    for (const { slug, firstName, lastName, employer } of people)
      stage.hubspot.store.add('contacts', {
        properties: {
          firstname: firstName,
          lastname: lastName,
          company: employer.name,
          profnet_url: `https://www.profnet.com/in/${slug}`,
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

  test('plan and run a watch by the keyboard alone', async () => {
    await page.goto('/champions')
    await page.getByText('Nobody was checked yet.', { exact: false }).waitFor()
    await pressByKeyboard(page, /^Plan$/)
    await page.getByText(/nothing was bought or written/).waitFor({ timeout: 60_000 })
    expect(await visit('planned', ['/champions'])).toEqual([])
    await page.goto('/champions')
    await pressByKeyboard(page, /^Run$/)
    await pressByKeyboard(page, /^Yes, run within the budget$/)
    // The page loads itself again until the run has ended.
    await page.getByText(/answers? bought/).waitFor({ timeout: 120_000 })
  })

  test('show from where to where people went, by verdict', async () => {
    const { db } = stage.context.database
    const known = await championsOf(db, 'customers')
    expect(known).toHaveLength(people.length)
    const verdicts: Verdict[] = ['moved', 'left', 'promoted', 'unclear', 'renamed']
    for (const [at, verdict] of verdicts.entries()) {
      const { watch, connector, entity, ...checked } = known[at]!
      const hasLeft = verdict === 'moved' || verdict === 'left'
      await saveChampion(
        db,
        { watch, connector, entity },
        {
          ...checked,
          verdict,
          checkedAt: new Date(checked.checkedAt.getTime() + 1),
          leftAt: hasLeft ? checked.checkedAt : null,
          employer:
            verdict === 'moved'
              ? { profileUrl: null, domain: 'after.example', name: 'After Ltd', title: 'Head of Buying' }
              : null,
        },
      )
    }
    await page.goto('/champions')
    await pressByKeyboard(page, /^moved 1$/)
    await page.getByText('After Ltd').waitFor()
    expect(await visit('checked', ['/champions', '/champions?page=2'])).toEqual([])
    expect(complaints).toEqual([])
  })
})
