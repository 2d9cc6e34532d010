import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BenchOptions } from './options.ts'
import { median, printTable, round } from './table.ts'

interface Row {
  program: string
  command: string
  'wall ms': number
  'processor ms': number
  'above bare Node': number
  'most MB': number
}

const root = join(import.meta.dirname, '..')
const tellsUse = `data:text/javascript,${encodeURIComponent(
  "process.on('exit', () => { const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage(); process.stderr.write(`\\nuse ${(userCPUTime + systemCPUTime) / 1000} ${maxRSS / 1024}\\n`) })",
)}`
const plan = ['csv', 'ten.csv', '--object', 'company', '--plan']

/**
 * Measures a command from the start of its process to its end, beside a Node that runs nothing. The package is measured when
 * `npm run build` has made it. The plan is of ten rows, on the embedded stores with a ledger that is there.
 */
export async function start(options: BenchOptions): Promise<Row[]> {
  const times = options.quick ? 1 : 5
  const folder = mkdtempSync(join(tmpdir(), 'paydirt-start-'))
  const rows = Array.from({ length: 10 }, (_, at) => `Firm ${at},firm${at}.example`)
  writeFileSync(join(folder, 'ten.csv'), `name,website\n${rows.join('\n')}\n`)
  writeFileSync(join(folder, 'nothing.mjs'), '')
  const programs = { checkout: join(root, 'src/cli/main.ts'), package: join(root, 'dist/cli/main.js') }
  const measured: Row[] = []
  const bare = medianOf(times, folder, [join(folder, 'nothing.mjs')])
  measured.push(row('Node', 'nothing', bare))
  for (const [program, file] of Object.entries(programs)) {
    if (!existsSync(file)) continue
    for (const args of [['--version'], ['--help'], plan]) {
      once(folder, [file, ...args])
      measured.push(row(program, args.join(' '), medianOf(times, folder, [file, ...args])))
    }
  }
  rmSync(folder, { recursive: true, force: true })
  printTable('start: one command, the second time and later', measured)
  return measured

  function row(program: string, command: string, use: Use): Row {
    return {
      program,
      command,
      'wall ms': round(use.wallMs, 0),
      'processor ms': round(use.cpuMs, 0),
      'above bare Node': round(use.cpuMs - bare.cpuMs, 0),
      'most MB': round(use.rssMb, 0),
    }
  }
}

interface Use {
  wallMs: number
  cpuMs: number
  rssMb: number
}

function medianOf(times: number, cwd: string, args: string[]): Use {
  const all = Array.from({ length: times }, () => once(cwd, args))
  const of = (name: keyof Use) => median(all.map((use) => use[name]))
  return { wallMs: of('wallMs'), cpuMs: of('cpuMs'), rssMb: of('rssMb') }
}

function once(cwd: string, args: string[]): Use {
  const { PATH, HOME } = process.env
  const startMs = performance.now()
  const child = spawnSync(process.execPath, ['--import', tellsUse, ...args], {
    cwd,
    encoding: 'utf8',
    env: { PATH, HOME },
  })
  const wallMs = performance.now() - startMs
  const [, cpuMs, rssMb] = /^use ([\d.]+) ([\d.]+)$/m.exec(child.stderr) ?? []
  if (cpuMs === undefined) throw new Error(`${args.join(' ')} told no use: ${child.stderr}`)
  return { wallMs, cpuMs: Number(cpuMs), rssMb: Number(rssMb) }
}
