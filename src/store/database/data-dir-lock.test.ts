import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { lockDataDir } from './data-dir-lock.ts'

let dir: string
beforeEach(async () => void (dir = await mkdtemp(join(tmpdir(), 'paydirt-lock-'))))
afterEach(() => rm(dir, { recursive: true, force: true }))

const mine = new RegExp(`^${process.pid} `)
const owner = () => readFile(join(dir, 'owner'), 'utf8').catch(() => undefined)
const own = (text: string) => writeFile(join(dir, 'owner'), text)

/** A process that has locked the directory and waits. */
async function neighbour() {
  const program = `
    import { lockDataDir } from ${JSON.stringify(join(import.meta.dirname, 'data-dir-lock.ts'))}
    await lockDataDir(${JSON.stringify(dir)})
    console.log('locked')
    setInterval(() => {}, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return child
}

describe('a data directory', () => {
  test('belongs to its first process, which is named, until that releases it', async () => {
    const lock = await lockDataDir(dir)
    expect(await owner()).toMatch(mine)
    await lock.release()
    expect(await owner()).toBeUndefined()
    await (await lockDataDir(dir)).release()
  })

  test('of a living process is refused with its number, and that of a killed process is taken over', async () => {
    const child = await neighbour()
    try {
      await expect(lockDataDir(dir)).rejects.toMatchObject({
        name: 'ConfigError',
        code: 'data_dir_in_use',
        message: expect.stringContaining(`(${child.pid}) uses ${dir}`),
      })
    } finally {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    const lock = await lockDataDir(dir)
    expect(await owner()).toMatch(mine)
    await lock.release()
  })

  test.runIf(process.platform === 'linux')(
    "whose owner's number was reused by another process is taken over",
    async () => {
      // Process 1 lives, and did not start at this time.
      await own('1 123456789')
      const lock = await lockDataDir(dir)
      expect(await owner()).toMatch(mine)
      await lock.release()
    },
  )

  test.each(['', 'garbage', '999999999 5', '-1 5', '0x1 5'])('owned by %j is taken over', async (text) => {
    await own(text)
    const lock = await lockDataDir(dir)
    expect(await owner()).toMatch(mine)
    await lock.release()
  })

  test('that another process has taken over is not released', async () => {
    const lock = await lockDataDir(dir)
    await own('1 5')
    await lock.release()
    expect(await owner()).toBe('1 5')
  })
})
