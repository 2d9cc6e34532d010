// `npm run mutants`: breaks a random sample of the sources and counts how many of the breaks the unit tests notice.
//
//   npm run mutants -- [--seed N] [--count N] [--only src/pay] [--part 1/2] [--verbose] [--json FILE]

import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from '../runtime.mjs'
import { createJudge } from './judge.ts'
import { mutantsOf, type Mutant } from './mutate.ts'

const folders = ['src/domain', 'src/pay']

const { values: options } = parseArgs({
  options: {
    seed: { type: 'string', default: '20261122' },
    count: { type: 'string', default: '300' },
    only: { type: 'string', default: '' },
    /** `2/3`: the second third of the sample, for several at once. */
    part: { type: 'string', default: '1/1' },
    json: { type: 'string' },
    /** Names the test that notices each mutant. */
    verbose: { type: 'boolean', default: false },
  },
})

const sources = new Map(
  globSync(
    folders.map((folder) => `${folder}/**/*.ts`),
    { cwd: root },
  )
    .filter((file) => !/\.(test|fixture)\.ts$/.test(file))
    .sort()
    .map((file) => [file, readFileSync(join(root, file), 'utf8')]),
)
const [part = 1, parts = 1] = options.part.split('/').map(Number)
const all = [...sources].flatMap(([file, source]) => mutantsOf(file, source))
const sample = shuffled(all, Number(options.seed))
  .filter(({ file }) => file.startsWith(options.only))
  .slice(0, Number(options.count))
  .filter((_, at) => at % parts === part - 1)
console.log(`seed ${options.seed}: ${sample.length} of ${all.length} mutants in ${sources.size} files`)

const startedAt = Date.now()
const judge = createJudge(folders)
const broken = await judge.baseline()
if (broken) {
  console.error(`the tests fail without a mutant: ${broken}`)
  process.exit(1)
}

const survivors: Mutant[] = []
let judged = 0
// File by file, so that a file's tests stay warm.
for (const mutant of sample.toSorted((a, b) =>
  a.file < b.file ? -1 : a.file > b.file ? 1 : a.start - b.start,
)) {
  const by = await judge.noticedBy(mutant, sources.get(mutant.file)!)
  judged += 1
  if (by === undefined) survivors.push(mutant)
  const { file, line, original, replacement } = mutant
  if (by === undefined || options.verbose)
    console.log(
      `${by === undefined ? 'survived' : 'killed  '} ${file}:${line}  ${oneLine(original)}  →  ${oneLine(replacement)}  ${by ?? ''}`.trim(),
    )
  if (judged % 25 === 0) console.error(`${judged} judged, ${survivors.length} survived`)
}
judge.close()

const killed = sample.length - survivors.length
console.log(
  `${killed} of ${sample.length} killed (${((100 * killed) / sample.length).toFixed(1)} %) in ${Math.round((Date.now() - startedAt) / 1000)} s, seed ${options.seed}`,
)
if (options.json) writeFileSync(options.json, JSON.stringify(survivors, null, 1))
process.exit(0)

function oneLine(text: string): string {
  const short = text.replace(/\s+/g, ' ')
  return short.length > 70 ? `${short.slice(0, 67)}...` : short || '(nothing)'
}

/** A Fisher-Yates shuffle by a seeded generator (mulberry32). */
function shuffled<T>(items: readonly T[], seed: number): T[] {
  const result = [...items]
  let state = seed >>> 0
  for (let at = result.length - 1; at > 0; at -= 1) {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    const other = Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * (at + 1))
    ;[result[at], result[other]] = [result[other]!, result[at]!]
  }
  return result
}
