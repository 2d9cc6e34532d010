import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { chromium, type Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { layoutFaults } from './layout-faults.ts'
import { openStage, type Stage } from './stage.ts'

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const screenshots = join(import.meta.dirname, 'screenshots')

describe.skipIf(!existsSync(executablePath))('the page of a run of 300 records', () => {
  let stage: Stage
  let browser: Browser

  beforeAll(async () => {
    stage = await openStage({ companies: 1 })
    const { db } = stage.context.database
    await sql`
      insert into runs (id, connector, object, entity, recipe, trigger, state, fingerprint, source, scanned_at, records, started_at, finished_at)
      values ('rlong', 'hubspot', 'company', 'companies', 'profile', 'sync', 'finished', 'long', '{}', now(), 300, now(), now())`.execute(
      db,
    )
    await sql`
      insert into tasks (run_id, ordinal, record_id, identity, status, updated_at, patch)
      select 'rlong', i, 9999000 + i, jsonb_build_object('company', 'Harbour Lights Number ' || i), 'written', now(),
        (select jsonb_object_agg('field_number_' || field, '{"set": "x"}'::jsonb) from generate_series(1, 20) as field)
      from generate_series(1, 300) as i`.execute(db)
    await sql`
      insert into field_writes (task_id, run_id, connector, entity, record_id, field, state, intended_at, written_at, undone_at)
      select id, 'rlong', 'hubspot', 'companies', record_id, 'website', case when ordinal < 200 then 'undone' else 'written' end,
        now(), now(), case when ordinal < 200 then now() end from tasks where run_id = 'rlong'`.execute(db)
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await stage?.close()
  })

  test('is a few screens of a phone, and says what was undone', async () => {
    for (const [path, name, most] of [
      ['/runs/rlong', 'run-long', 6_500],
      ['/runs', 'runs-undone', 3_000],
    ] as const)
      for (const colorScheme of ['light', 'dark'] as const) {
        const page = await browser.newPage({ viewport: { width: 390, height: 844 }, colorScheme })
        await page.goto(`${stage.url}${path}`)
        await page.screenshot({
          path: join(screenshots, `${name}-390-${colorScheme}.png`),
          fullPage: name === 'run-long',
        })
        expect(await page.getByText('undone in part').first().isVisible()).toBe(true)
        expect(await layoutFaults(page, 'html')).toEqual([])
        const height = await page.evaluate<number>('document.documentElement.scrollHeight')
        expect(height).toBeLessThan(most)
        await page.close()
      }
  })
})
