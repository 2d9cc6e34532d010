import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { personAnswer } from '../../src/sandbox/data/person.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { confirm } from '../../src/cli/terminal/confirm.ts'
import { openDesk, type Desk } from '../support/cli.ts'

/** Puts a person before this process's terminal, who types these keys. */
function seatPerson(keys: string): void {
  const stdin = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} })
  stdin.write(keys)
  vi.spyOn(process, 'stdin', 'get').mockReturnValue(stdin as unknown as typeof process.stdin)
  const shown = Object.getOwnPropertyDescriptor(process.stderr, 'isTTY')
  Object.defineProperty(process.stderr, 'isTTY', { value: true, configurable: true })
  onTestFinished(() => {
    vi.restoreAllMocks()
    if (shown) Object.defineProperty(process.stderr, 'isTTY', shown)
    else delete (process.stderr as { isTTY?: boolean }).isTTY
  })
}

let sandbox: Sandbox
let desk: Desk

const people = Array.from({ length: 60 }, (_, index) => `https://www.profnet.com/in/orla-vance-${index}`)
  .filter((url) => personAnswer(url).data !== null)
  .slice(0, 2) as [string, string]

beforeAll(async () => {
  sandbox = await startSandbox()
  desk = await openDesk(sandbox)
  await desk.write('people.csv', `profnet_url\n${people.join('\n')}\n`)
  await desk.run(['csv', 'people.csv', '--object', 'person', '--out', 'out.csv'])
})
afterAll(async () => {
  await desk.close()
  await sandbox.stop()
})

const question = 'Erase this'

interface Document {
  plan: boolean
  erased: Record<string, number>
  suppressed: number
}

const planOf = async (url: string) => {
  const ended = await desk.run(['forget', '--profile-url', url, '--plan', '--json'])
  expect(ended.status).toBe(0)
  return ended.json<Document & { records: unknown[] }>()
}

describe('forget', () => {
  test('is refused where nobody can be asked, with the option that says yes', async () => {
    const { status, stderr, stdout } = await desk.run(['forget', '--profile-url', people[0]])
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toContain('add --yes, or look at --plan first')
    expect(await planOf(people[0])).toMatchObject({
      plan: true,
      erased: { lookups: 1, tasks: 1, charges: 1 },
      records: [{ connector: 'csv', entity: 'person', file: 'people.csv', id: expect.any(String), runs: 1 }],
    })
  })

  test('shows what it would erase before it asks, and a no leaves everything', async () => {
    const before = await planOf(people[0])
    seatPerson('n')
    const { status, stdout, stderr } = await desk.run(['forget', '--profile-url', people[0]])
    expect({ status, stdout }).toEqual({ status: 130, stdout: '' })
    expect(stderr).toContain(question)
    expect(stderr).toContain('would be erased: 1 lookup,')
    expect(stderr).toContain('people.csv line')
    expect(stderr).toContain('nothing was erased')
    expect(await planOf(people[0])).toEqual(before)
  })

  test('after a yes does what its plan says, and asks nothing with --yes', async () => {
    for (const [url, option] of [
      [people[0], []],
      [people[1], ['--yes']],
    ] as const) {
      const { plan, erased, suppressed } = await planOf(url)
      seatPerson('y')
      const ended = await desk.run(['forget', '--profile-url', url, '--json', ...option])
      expect({ plan, status: ended.status }).toEqual({ plan: true, status: 0 })
      expect(ended.stderr.includes(question)).toBe(option.length === 0)
      expect(ended.json<Document>()).toEqual({ plan: false, erased, suppressed, inCrms: [] })
      expect((await planOf(url)).erased).toMatchObject({ lookups: 0, tasks: 0, charges: 0 })
      expect((await planOf(url)).suppressed).toBe(0)
    }
  })
})

describe('the question', () => {
  async function answered(keys: string): Promise<boolean> {
    const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode: () => {} })
    const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 20 })
    output.once('data', () => setImmediate(() => input.write(keys)))
    return confirm({ input, output }, 'Erase this for good?')
  }

  test.each([
    ['y', true],
    ['n', false],
    ['\r', false],
    ['\u0003', false],
  ])('answered with %j is %s', async (keys, said) => {
    expect(await answered(keys)).toBe(said)
  })
})
