import type { Page } from 'playwright-core'

/** Presses Tab until the control with this name has the focus, and Enter. */
export async function pressByKeyboard(page: Page, name: RegExp): Promise<void> {
  for (let steps = 0; steps < 120; steps += 1) {
    await page.keyboard.press('Tab')
    const text = await page.evaluate<string>(
      '(document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent ?? "").trim()',
    )
    if (name.test(text)) return page.keyboard.press('Enter')
  }
  throw new Error(`Tab does not reach ${name}`)
}
