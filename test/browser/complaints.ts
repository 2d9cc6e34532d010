import type { Page } from 'playwright-core'

/** Collects what the console of a page reports, such as a blocked asset, and every request to another host. */
export function collectComplaints(page: Page, origin: string, complaints: string[]): void {
  page.on('console', (message) => {
    // The browser reports the page that is not there.
    const isExpected = message.location().url.endsWith('/nothing-here')
    if (message.type() === 'error' && !isExpected) complaints.push(message.text())
  })
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('request', (request) => {
    if (!request.url().startsWith(origin) && !request.url().startsWith('data:'))
      complaints.push(request.url())
  })
}
