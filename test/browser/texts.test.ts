import { existsSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { chromium, type Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { axeFindings } from './axe.ts'
import { layoutFaults } from './layout-faults.ts'
import { deskPages } from './texts/pages.ts'
import { openTextStage } from './texts/text-stage.ts'
import { hostileTexts } from './texts/texts.ts'

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium'
const screenshots = join(import.meta.dirname, 'screenshots', 'texts')
const views = [
  { width: 1280, height: 900 },
  { width: 390, height: 844 },
].flatMap((size) => (['light', 'dark'] as const).map((colorScheme) => ({ ...size, colorScheme })))

/** Texts whose pages are judged by axe and kept as pictures: the others have the same elements and colours. */
const judged = new Set(['200 of unbroken', '5000 of words', '5000 of right to left'])

/** `PAYDIRT_TEST_PAGES=run,audit` tries these pages only, while you work on them. */
const wanted = process.env['PAYDIRT_TEST_PAGES']?.split(',')
const pages = deskPages.filter(({ name }) => !wanted || wanted.includes(name))

describe.skipIf(!existsSync(executablePath))('every page of the desk', () => {
  let browser: Browser
  beforeAll(async () => {
    await mkdir(screenshots, { recursive: true })
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  })
  afterAll(() => browser?.close())

  test.each(hostileTexts)(
    'can be read and used with $name in every place',
    async ({ name, text }) => {
      const stage = await openTextStage(text)
      const context = await browser.newContext({ baseURL: stage.url, reducedMotion: 'reduce' })
      try {
        const found: string[] = []
        for (const { name: pageName, path, prepare, scope = 'html', signedOut } of pages) {
          await context.clearCookies()
          if (!signedOut) await context.addCookies([stage.cookie])
          const page = await context.newPage()
          await page.goto(path(stage.filled))
          await prepare?.(page)
          for (const { width, height, colorScheme } of judged.has(name)
            ? views
            : views.filter(({ colorScheme }) => colorScheme === 'light')) {
            await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
            await page.setViewportSize({ width, height })
            const at = `${pageName} at ${width}, ${colorScheme}`
            // Colours move nothing.
            const faults = colorScheme === 'light' ? await layoutFaults(page, scope) : []
            // Each width and each theme once: axe takes longer than all the rest.
            const isForAxe = judged.has(name) && (width === 1280) === (colorScheme === 'light')
            const findings = isForAxe ? await axeFindings(page, scope) : []
            found.push(...[...faults, ...findings].map((fault) => `${at}: ${fault}`))
            if (judged.has(name))
              await page.screenshot({
                path: join(screenshots, `${pageName} ${width} ${colorScheme} ${name}.png`),
                fullPage: true,
              })
          }
          await page.close()
        }
        expect(found).toEqual([])
      } finally {
        await context.close()
        await stage.close()
      }
      // Twenty pages, each tried up to four times, also on a busy machine.
    },
    600_000,
  )
})
