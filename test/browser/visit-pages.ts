import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { axeFindings } from './axe.ts'
import { layoutFaults } from './layout-faults.ts'

const screenshots = join(import.meta.dirname, 'screenshots')

interface Visit {
  browser: Browser
  stage: { url: string }
  /** Part of the screenshots' names. */
  when: string
  watch: (page: Page) => void
  /** Undefined to visit without a session. */
  signedIn: BrowserContext | undefined
}

/** Takes a screenshot of each page at two widths and in both themes. Returns the faults found. */
export async function visitPages(
  paths: readonly string[],
  { browser, stage, when, watch, signedIn }: Visit,
): Promise<string[]> {
  const found: string[] = []
  const storageState = await signedIn?.storageState()
  await mkdir(screenshots, { recursive: true })
  for (const width of [1280, 390]) {
    for (const colorScheme of ['light', 'dark'] as const) {
      const own = await browser.newContext({
        baseURL: stage.url,
        colorScheme,
        ...(storageState ? { storageState } : {}),
        viewport: { width, height: width === 390 ? 844 : 900 },
        reducedMotion: 'reduce',
      })
      try {
        for (const path of paths) {
          const visited = await own.newPage()
          watch(visited)
          await visited.goto(path)
          if (path === '/spend') await visited.locator('#spend-chart[data-drawn]').waitFor()
          if (path === '/queues') await visited.getByText('write-back').first().waitFor()
          const name =
            path
              .replace(/\/(r[a-z0-9]{10,})/, '/run')
              .replace(/\/(p[a-z0-9]{10,})/, '/plan')
              .replace(/\?(?:show=(\w+))?.*/, (_, shown?: string) => (shown === undefined ? '' : `-${shown}`))
              .replaceAll('/', '-')
              .slice(1) || 'now'
          await visited.screenshot({
            path: join(screenshots, `${name}-${when}-${width}-${colorScheme}.png`),
            fullPage: true,
          })
          // Bull-board's markup is not ours to fix; only our bar on its page is.
          const scope = path === '/queues' ? '.desk-bar' : 'html'
          const faults = [...(await layoutFaults(visited, scope)), ...(await axeFindings(visited, scope))]
          found.push(...faults.map((text) => `${path} ${width} ${colorScheme}: ${text}`))
          await visited.close()
        }
      } finally {
        await own.close()
      }
    }
  }
  return found
}
