import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'

const runtime = join(import.meta.dirname, '../../scripts/runtime.mjs')

// Says what it is, then does what it is told; on a signal it says so and ends with status 7.
const program = `
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => { console.log(signal); process.exit(7) })
  console.log(JSON.stringify({ node: process.version, pid: process.pid, args: process.argv.slice(2), cwd: process.cwd(), arenas: process.env.MALLOC_ARENA_MAX }))
  const [what] = process.argv.slice(2)
  if (what === 'fail') process.exit(3)
  if (what === 'echo') for await (const chunk of process.stdin) process.stdout.write(chunk)
  if (what === 'die') process.kill(process.pid, 'SIGKILL')
  if (what === 'wait') setInterval(() => {}, 1000)
`

let work: string
let starter: ChildProcess | undefined

beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'paydirt-runtime-'))
  await writeFile(join(work, 'program.ts'), program)
  await writeFile(
    join(work, 'start.mjs'),
    `import { runPinned } from ${JSON.stringify(runtime)}
     await runPinned(${JSON.stringify(join(work, 'program.ts'))}, process.argv.slice(2))`,
  )
})

afterEach(() => {
  starter?.kill('SIGKILL')
  starter = undefined
})
afterAll(() => rm(work, { recursive: true, force: true }))

function start(...args: string[]) {
  return startIn(process.env, ...args)
}

function startIn(env: NodeJS.ProcessEnv, ...args: string[]) {
  const child = spawn(process.execPath, [join(work, 'start.mjs'), ...args], {
    cwd: work,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  starter = child
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    child,
    ended: once(child, 'exit'),
    line: async () => (await lines.next()).value as string | undefined,
  }
}

describe('what starts a command', () => {
  test('passes on arguments, directory, input, output and exit status, and adds nothing to the output', async () => {
    const echo = start('echo', '--json', 'a b')
    expect(JSON.parse((await echo.line())!)).toMatchObject({
      node: process.version,
      args: ['echo', '--json', 'a b'],
    })
    echo.child.stdin.end('in\n')
    expect(await echo.line()).toBe('in')
    expect(await echo.line()).toBeUndefined()
    expect(await echo.ended).toEqual([0, null])
    expect(await start('fail').ended).toEqual([3, null])
  })

  test('has the memory that is freed given back, unless the user wants it otherwise', async () => {
    const arenas = async (...set: string[]) => {
      const env = { ...process.env, ...(set.length > 0 ? { MALLOC_ARENA_MAX: set[0] } : {}) }
      if (set.length === 0) delete env['MALLOC_ARENA_MAX']
      return (JSON.parse((await startIn(env, 'fail').line())!) as { arenas?: string }).arenas
    }
    expect(await arenas()).toBe('1')
    expect(await arenas('7')).toBe('7')
  })

  test('ends by the signal that ended the command', async () => {
    expect(await start('die').ended).toEqual([null, 'SIGKILL'])
  })

  test.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'passes on %s and waits for the end',
    async (signal) => {
      const { child, ended, line } = start('wait')
      await line()
      child.kill(signal)
      expect(await line()).toBe(signal)
      expect(await ended).toEqual([7, null])
    },
  )

  test('takes the command along when it is killed', async () => {
    const { child, ended, line } = start('wait')
    await line()
    child.kill('SIGKILL')
    await ended
    expect(await line()).toBe('SIGTERM')
    // The pipe closes with its last holder, the command.
    expect(await line()).toBeUndefined()
  })
})
