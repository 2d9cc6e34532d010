import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { findProgram, type JudgeLimit } from '../../bench/judge.ts'
import { startNginx } from '../../bench/nginx-judge.ts'

const nginx = findProgram('nginx')
if (nginx === undefined) console.warn('skipped: nginx is not installed, so its limits judge nothing')

async function judgeOf(limit: JudgeLimit, answer: (response: ServerResponse) => void) {
  const service = createServer((_, response) => answer(response)).listen(0, '127.0.0.1')
  await once(service, 'listening')
  onTestFinished(() => void service.close())
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
  const judge = await startNginx(nginx!, url, [limit])
  onTestFinished(() => judge.stop())
  const send = async () => (await fetch(`${judge.url}/${limit.id}`, { method: 'POST', body: '{}' })).status
  // nginx writes its log after the answer; once it takes up another request, all lines before are written.
  const phases = async () => (await fetch(`${judge.url}/elsewhere`), judge.phases(limit))
  return { judge, send, phases }
}

test.skipIf(nginx === undefined)('nginx judges by its own rate, and its log is counted', async () => {
  const limit: JudgeLimit = { id: 'one-a-second', rules: [{ kind: 'limit_req', perSecond: 1, burst: 2 }] }
  const { judge, send, phases } = await judgeOf(limit, (response) => response.end('{}'))
  await judge.begin(limit.id, 0)

  const answers = await Promise.all(Array.from({ length: 10 }, send))

  // One by the rate and two by the burst.
  expect(answers.filter((status) => status === 200)).toHaveLength(3)
  expect(answers.filter((status) => status === 429)).toHaveLength(7)
  const [{ windows, limits, arrivalsMs }] = (await phases()) as [Awaited<ReturnType<typeof phases>>[number]]
  expect(windows).toEqual([{ admitted: 3, refused: 7 }])
  expect(limits).toEqual([1])
  expect(arrivalsMs).toHaveLength(10)
})

test.skipIf(nginx === undefined)(
  'nginx judges requests under way, by one limit after the other',
  async () => {
    const limit: JudgeLimit = {
      id: 'at-once',
      rules: [3, 1].map((atOnce) => ({ kind: 'limit_conn', perSecond: 10 * atOnce, atOnce })),
    }
    let refusedAll = Promise.withResolvers<void>()
    const { judge, send, phases } = await judgeOf(limit, (response) => {
      void refusedAll.promise.then(() => response.end('{}'))
    })
    /** Returns how many of them are served. Their answers come when so many others were refused. */
    const sendTogether = async (count: number, refusals: number) => {
      refusedAll = Promise.withResolvers()
      let refused = 0
      const answers = Array.from({ length: count }, async () => {
        const status = await send()
        if (status === 429 && ++refused === refusals) refusedAll.resolve()
        return status
      })
      return (await Promise.all(answers)).filter((status) => status === 200).length
    }

    await judge.begin(limit.id, 0)
    expect(await sendTogether(8, 5)).toBe(3)
    await judge.begin(limit.id, 1)
    expect(await sendTogether(4, 3)).toBe(1)

    expect((await phases()).map(({ windows, limits }) => ({ windows, limits }))).toEqual([
      { windows: [{ admitted: 3, refused: 5 }], limits: [30] },
      { windows: [{ admitted: 1, refused: 3 }], limits: [10] },
    ])
  },
)
