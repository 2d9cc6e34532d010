#!/usr/bin/env node
// Exits with 0 while the `paydirt start` that answers at PAYDIRT_HEALTH is alive, else with 1. Loads nothing of the program:
// supervisors run it every few seconds. `bin/alive.mjs readyz` asks for readiness.
import { request } from 'node:http'

const [path = 'livez'] = process.argv.slice(2)
const place = process.env.PAYDIRT_HEALTH ?? ''
const [, host, port] = /^(?:(.+):)?(\d{1,5})$/.exec(place) ?? []
if (!place.startsWith('/') && port === undefined)
  end('PAYDIRT_HEALTH does not say where `paydirt start` answers')

// A server that listens on all addresses answers on the loopback too.
const name =
  { undefined: '127.0.0.1', '0.0.0.0': '127.0.0.1', '[::]': '::1' }[String(host)] ??
  host.replace(/^\[(.*)\]$/, '$1')
const to = port === undefined ? { socketPath: place } : { host: name, port }
request({ ...to, path: `/${path}`, timeout: 4_000 }, async (response) => {
  const text = (await response.toArray()).join('').trim()
  if (response.statusCode !== 200) end(text)
  console.log(text)
})
  .on('timeout', () => end(`no answer at ${place} within 4 s`))
  .on('error', ({ code }) => end(`no answer at ${place}: ${code}`))
  .end()

/** Ends at once: there may be a connection on which nothing comes. */
function end(why) {
  console.error(why)
  process.exit(1)
}
