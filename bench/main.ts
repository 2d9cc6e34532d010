import { burst } from './burst.ts'
import { measureCalls } from './calls.ts'
import { capacity } from './capacity.ts'
import { hook } from './hook.ts'
import { latency } from './latency.ts'
import { listPreview } from './list-preview.ts'
import { lists } from './lists.ts'
import { machine } from './machine.ts'
import { mediansOf } from './medians.ts'
import { readOptions, usage, type BenchOptions } from './options.ts'
import { overhead } from './overhead.ts'
import { pacerCommands } from './pacer-commands.ts'
import { pacing } from './pacing.ts'
import { scale } from './scale.ts'
import { useScratch } from './scratch.ts'
import { start } from './start.ts'
import { syncMemory } from './sync-memory.ts'
import { printTable } from './table.ts'
import { workers } from './workers.ts'

/**
 * The benchmarks by name: `npm run bench -- pacing`, or all of them. `--json` prints one document. `--quick` is a smoke
 * run. `--only`, `--sizes`, `--stores embedded,servers` and `--repeat` narrow a run, `--runs 3` prints
 * the medians of three, `--pictures FOLDER` has `pacing` draw its limits; see docs/benchmarks.md.
 */
const benches: Record<string, (options: BenchOptions) => Promise<unknown>> = {
  pacing,
  overhead,
  scale,
  latency,
  burst,
  workers,
  capacity,
  'pacer-commands': pacerCommands,
  'sync-memory': syncMemory,
  calls: measureCalls,
  lists,
  'list-preview': listPreview,
  hook,
  start,
}

const help = usage.replace('NAMES', Object.keys(benches).join(', '))
const { help: isHelp, json, names, runs, ...options } = optionsOr(help)
if (isHelp) {
  process.stdout.write(help)
  process.exit(0)
}
const wanted = names.length > 0 ? names : Object.keys(benches)
const unknown = wanted.find((name) => !benches[name])
if (unknown !== undefined) {
  process.stderr.write(`there is no benchmark ${unknown}; available: ${Object.keys(benches).join(', ')}\n`)
  process.exit(2)
}
const results: Record<string, unknown> = {}
useScratch(printResults)
for (const name of wanted) {
  try {
    results[name] = await runsOf(name)
  } catch (error) {
    // The others are measured all the same.
    const problem = error instanceof Error ? error.message : String(error)
    process.stderr.write(`${name} failed: ${problem}\n`)
    results[name] = { error: problem }
    process.exitCode = 1
  }
}
printResults()

function printResults(): void {
  if (json) process.stdout.write(`${JSON.stringify({ machine: machine(), results })}\n`)
  else process.stdout.write(`${JSON.stringify(machine())}\n`)
}

/** A single run as it is, several with the median of each number, as runs on a shared machine differ. */
async function runsOf(name: string): Promise<unknown> {
  const results: unknown[] = []
  for (let run = 1; run <= runs; run += 1) {
    if (runs > 1) process.stderr.write(`\n${name}: run ${run} of ${runs}\n`)
    results.push(await benches[name]?.(options))
  }
  if (runs === 1) return results[0]
  const medians = mediansOf(results)
  for (const [title, rows] of Object.entries(Array.isArray(medians) ? { '': medians } : (medians as object)))
    if (Array.isArray(rows))
      printTable(`${name} ${title}`.trim() + `, medians of ${runs} runs`, rows as object[])
  return { medians, runs: results }
}

function optionsOr(help: string): ReturnType<typeof readOptions> {
  try {
    return readOptions(process.argv.slice(2))
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${help}`)
    process.exit(2)
  }
}
