import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

const source = await readFile(join(import.meta.dirname, 'layout-faults.js'), 'utf8')

/**
 * Returns what a person could not read or reach on a page or in a part of it, as sentences: a page that scrolls sideways,
 * controls off-screen or out of reach, also in what a disclosure opens, and texts and controls that overlap.
 */
export async function layoutFaults(page: Page, scope: string): Promise<string[]> {
  await page.evaluate(source)
  return page.evaluate(
    (options) =>
      (globalThis as unknown as { layoutFaults: (options: { scope: string }) => string[] }).layoutFaults(
        options,
      ),
    { scope },
  )
}
