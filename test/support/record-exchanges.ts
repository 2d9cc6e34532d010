import { appendFileSync } from 'node:fs'
import { subscribe } from 'node:diagnostics_channel'

/**
 * A set-up file of `test/judge.config.ts`: writes each exchange of a HubSpot stand-in into the judge's file, a line
 * each.
 */
const file = process.env['PAYDIRT_JUDGE_EXCHANGES']
if (file !== undefined)
  subscribe('paydirt.sandbox.hubspot.exchange', (exchange) => {
    appendFileSync(file, `${JSON.stringify(exchange)}\n`)
  })
