import type { Page } from 'playwright-core'

interface Finding {
  id: string
  impact: string | null
  nodes: { html: string; failureSummary?: string }[]
}

/** Returns what axe calls serious or critical in a part of the page. */
export async function seriousFindings(page: Page, axe: string, scope: string): Promise<string[]> {
  // Evaluated by the debugger, which the page's content policy does not bind.
  await page.evaluate(axe)
  const violations = await page.evaluate(
    async (scope) =>
      (
        await (
          globalThis as unknown as { axe: { run: (scope: string) => Promise<{ violations: Finding[] }> } }
        ).axe.run(scope)
      ).violations,
    scope,
  )
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(
      ({ id, nodes }) =>
        `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join('\n')}`,
    )
}
