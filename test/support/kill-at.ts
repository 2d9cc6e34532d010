// Loaded before `paydirt` (`node --import`): the process kills itself at the point of `TEST_KILL`, such as `answer 3` or `time 400`. A
// request is one to the service, the CRM or the chain, whichever comes.
import { subscribe } from 'node:diagnostics_channel'

const [point = '', nth = '0'] = (process.env['TEST_KILL'] ?? '').split(' ')
let seen = 0
function pass(): void {
  seen += 1
  if (seen === Number(nth)) process.kill(process.pid, 'SIGKILL')
}

if (point === 'request') subscribe('undici:request:bodySent', pass)
if (point === 'answer') subscribe('undici:request:trailers', pass)
if (point === 'time') setTimeout(() => process.kill(process.pid, 'SIGKILL'), Number(nth)).unref()
