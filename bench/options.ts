import { parseArgs } from 'node:util'

export interface BenchOptions {
  /** A smoke run: every step runs, and the figures mean nothing. */
  quick: boolean
  /** Names of the parts to run; all of them when empty. */
  only: string[]
  sizes: number[] | undefined
  stores: ('embedded' | 'servers')[]
  repeat: number
  /** Draws the parameters of what is drawn at random. */
  seed: number
  /** A folder for pictures of what was measured; none are drawn without it. */
  pictures: string | undefined
}

export const usage = `npm run bench -- [NAME...] [OPTION...]

  NAME              run only these benchmarks: NAMES
  --json            print one JSON document
  --quick           a smoke run: every step runs, and the figures mean nothing
  --only A,B        parts of a benchmark, such as shape,cold,command of pacing
  --sizes N,N       numbers of records
  --stores S        embedded, servers or both (embedded,servers)
  --runs N          run each N times, and print the median of each number too
  --repeat N        as many rounds within a run: of overhead and burst, and the requests of latency
  --pictures FOLDER draw what pacing measured
  --seed N          draws the limits of pacing --only drawn, 1 by default
  --help            print this

BENCH_DETAILS=1 has latency and burst print each request. docs/benchmarks.md says what each of them measures.
`

/** @throws TypeError for an option that does not exist, or a number that is none */
export function readOptions(
  args: string[],
): BenchOptions & { help: boolean; json: boolean; names: string[]; runs: number } {
  const { values, positionals } = parseArgs({
    args,
    options: {
      help: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      only: { type: 'string', default: '' },
      sizes: { type: 'string' },
      stores: { type: 'string', default: 'embedded,servers' },
      repeat: { type: 'string', default: '1' },
      seed: { type: 'string', default: '1' },
      runs: { type: 'string', default: '1' },
      pictures: { type: 'string' },
    },
    allowPositionals: true,
  })
  return {
    help: values.help,
    json: values.json,
    quick: values.quick,
    only: list(values.only),
    sizes:
      values.sizes === undefined ? undefined : list(values.sizes).map((size) => wholeNumber('sizes', size)),
    stores: list(values.stores).map(storesNamed),
    repeat: wholeNumber('repeat', values.repeat),
    seed: wholeNumber('seed', values.seed),
    runs: wholeNumber('runs', values.runs),
    pictures: values.pictures,
    names: positionals,
  }
}

function wholeNumber(name: string, text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new TypeError(`--${name} is ${text}; give a whole number from 1 on`)
  return Number(text)
}

function storesNamed(name: string): BenchOptions['stores'][number] {
  if (name !== 'embedded' && name !== 'servers')
    throw new TypeError(`--stores has ${name}; give embedded, servers or both`)
  return name
}

function list(text: string): string[] {
  return text.split(',').filter(Boolean)
}
