import { expect, onTestFinished, test } from 'vitest'
import { start } from '../../src/app/start.ts'
import { startSandbox } from '../../src/sandbox/sandbox.ts'
import { openHouse } from '../support/house.ts'
import { freshStores } from '../support/stores.ts'
import { missingServers, startPostgres, startRedis } from './servers.ts'

const soonMs = 2_000
const html = { accept: 'text/html' }

test.skipIf(missingServers())(
  'the page Now says within two seconds that Redis or Postgres is gone, also where it is open',
  async () => {
    const [redis, postgres] = await Promise.all([startRedis(), startPostgres()])
    onTestFinished(async () => void (await Promise.all([redis.stop(), postgres.stop()])))
    const sandbox = await startSandbox()
    onTestFinished(() => sandbox.stop())
    const stores = await freshStores({ DATABASE_URL: postgres.url })
    const env = { DATABASE_URL: stores.databaseUrl ?? '', REDIS_URL: redis.url, PAYDIRT_PORT: '0' }
    const house = await openHouse(sandbox, { env })
    const running = await start(house.context, 'web')
    onTestFinished(async () => {
      await running.stop()
      await house.context.close()
    })
    const url = running.parts.map((part) => /http:\/\/\S+/.exec(part)?.[0]).find(Boolean) ?? ''
    const page = async (path: string, headers: Record<string, string> = html) => {
      const startedMs = performance.now()
      const answer = await fetch(url + path, { headers })
      const text = await answer.text()
      return { status: answer.status, text, ms: performance.now() - startedMs }
    }
    const open = await openPage(url)
    onTestFinished(() => open.close())
    expect((await page('/')).text).not.toContain('does not respond')
    await open.until((regions) => regions.get('now-pace')?.includes('requests/s') === true)

    async function expectSaid(words: string, region: string): Promise<void> {
      const goneMs = performance.now()
      const [now] = await Promise.all([
        page('/'),
        open.until((regions) => regions.get(region)?.includes(words) === true),
      ])
      const saidMs = performance.now() - goneMs
      console.info(
        `${words}: the page after ${Math.round(now.ms)} ms, the open page after ${Math.round(saidMs)} ms`,
      )
      expect(now).toMatchObject({ status: 200, text: expect.stringContaining(words) })
      expect(now.ms).toBeLessThan(soonMs)
      expect(saidMs).toBeLessThan(soonMs)
    }

    // It hangs, then it is gone.
    await redis.command('CLIENT PAUSE 2500')
    await expectSaid('Redis does not respond', 'now-attention')
    await open.until((regions) => !regions.get('now-attention')?.includes('Redis'))
    await redis.kill()
    await expectSaid('Redis does not respond', 'now-attention')
    expect((await page('/runs')).status).toBe(200)
    await redis.start()
    await open.until((regions) => !regions.get('now-attention')?.includes('Redis'))

    await postgres.kill()
    await expectSaid('The database does not respond', 'now-attention')
    const runs = await page('/runs')
    expect(runs).toMatchObject({ status: 503, text: expect.stringContaining('The database (DATABASE_URL)') })
    expect(runs.ms).toBeLessThan(soonMs)
    const asked = await page('/runs', { accept: 'application/json' })
    expect(JSON.parse(asked.text)).toMatchObject({ status: 503, code: 'database_away' })
    await postgres.start()
    await open.until((regions) => !regions.get('now-attention')?.includes('database'))
    expect((await page('/runs')).status).toBe(200)
  },
)

/** Reads the parts of an open page as they come. */
async function openPage(url: string) {
  const ended = new AbortController()
  const answer = await fetch(`${url}/desk/events?page=now`, { signal: ended.signal })
  const regions = new Map<string, string>()
  const waiting = new Set<() => void>()
  const reading = (async () => {
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of answer.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true })
      const events = text.split('\n\n')
      text = events.pop() ?? ''
      for (const event of events) {
        const data = /^data: (\{.*)$/m.exec(event)?.[1]
        if (data === undefined) continue
        const { id, html: markup } = JSON.parse(data) as { id: string; html: string }
        regions.set(id, markup)
      }
      for (const look of waiting) look()
    }
  })().catch(() => {})
  return {
    until: (isSo: (regions: Map<string, string>) => boolean) =>
      new Promise<void>((resolve, reject) => {
        const last = () => reject(new Error(`the open page stays ${regions.get('now-attention')}`))
        setTimeout(last, 20_000).unref()
        const look = () => {
          if (!isSo(regions)) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      }),
    async close() {
      ended.abort()
      await reading
    },
  }
}
