import { createLog } from '../../src/app/context/log.ts'

/** A process that logs much at once and then ends in the way that its argument names; `turns` measures its event loop. */
const [how, lines = '0'] = process.argv.slice(2)
const log = createLog({ level: 'info', modules: {} })
const startedMs = performance.now()
for (let index = 0; index < Number(lines); index++) log.info({ index, fill: 'x'.repeat(200) }, 'line')
if (how === 'throw') throw new Error('nobody catches this')
if (how === 'exit') process.exit(3)
if (how === 'once') process.once('SIGTERM', () => void setTimeout(() => process.exit(4), 300))
if (how === 'signal' || how === 'once') {
  process.stdout.write('written\n')
  setInterval(() => {}, 1_000)
}
if (how === 'turns')
  setTimeout(() => process.stdout.write(`${Math.round(performance.now() - startedMs)}\n`), 10)
