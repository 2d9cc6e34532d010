import { parseArgs } from 'node:util'
import { machine } from './machine.ts'
import { syncMemory } from './sync-memory.ts'

/** Each benchmark by its name: `npm run bench -- sync-memory`, or all of them; `--json` prints one document. */
const benches: Record<string, () => Promise<unknown>> = { 'sync-memory': syncMemory }

const { values, positionals } = parseArgs({
  options: { json: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const wanted = positionals.length > 0 ? positionals : Object.keys(benches)
const results: Record<string, unknown> = {}
for (const name of wanted) {
  const bench = benches[name]
  if (!bench) {
    process.stderr.write(`there is no benchmark ${name}; there is ${Object.keys(benches).join(', ')}\n`)
    process.exit(2)
  }
  results[name] = await bench()
}
if (values.json) process.stdout.write(`${JSON.stringify({ machine: machine(), results })}\n`)
else process.stdout.write(`${JSON.stringify(machine())}\n`)
