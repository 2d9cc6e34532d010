import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const source = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

interface Finding {
  id: string
  nodes: { html: string; failureSummary?: string }[]
}

/** Returns what axe finds on a page or in a part of it, as sentences. */
export async function axeFindings(page: Page, scope: string): Promise<string[]> {
  // Evaluated through the debugger, which the content security policy does not restrict.
  await page.evaluate(await readFile(source, 'utf8'))
  const violations = await page.evaluate(
    async (within) =>
      (
        await (
          globalThis as unknown as { axe: { run: (scope: string) => Promise<{ violations: Finding[] }> } }
        ).axe.run(within)
      ).violations,
    scope,
  )
  return violations.map(
    ({ id, nodes }) =>
      `${id}: ${nodes.map(({ html, failureSummary }) => `${html.slice(0, 300)} ${failureSummary?.slice(0, 300)}`).join('\n')}`,
  )
}
