// `npm run mutants`: breaks a random sample of the sources and counts how many of the breaks the unit tests notice.
//
//   npm run mutants -- [--seed N] [--count N] [--only src/pay] [--part 1/2] [--verbose] [--json FILE]

import { createHash } from 'node:crypto'
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
const sample = shuffled(all, options.seed)
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

/** Sorts by a hash of the seed and the mutant, so that an edit elsewhere does not draw another sample. */
function shuffled(mutants: readonly Mutant[], seed: string): Mutant[] {
  const seen = new Map<string, number>()
  return mutants
    .map((mutant) => {
      const name = [mutant.file, mutant.original, mutant.replacement].join('|')
      const nth = (seen.get(name) ?? 0) + 1
      seen.set(name, nth)
      return { mutant, rank: createHash('sha256').update(`${seed}|${name}|${nth}`).digest('hex') }
    })
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
    .map(({ mutant }) => mutant)
}
