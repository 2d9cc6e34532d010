import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { companyAnswer } from '../../src/sandbox/data/company.ts'
import { startHubspotStandIn } from '../../src/sandbox/hubspot/index.ts'
import { startSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts'
import { wordsOf } from '../support/examples.ts'
import { isFullSize } from '../support/full-size.ts'
import { hasTerminal, inTerminal, type Shown } from '../support/pseudo-terminal.ts'
import { testSeed } from '../support/seed.ts'

// The commands that a new user types, in a terminal, each a process of its own: at full size only. Their times are printed and
// not judged, because machines differ.

let sandbox: Sandbox
beforeAll(async () => void (sandbox = await startSandbox()))
afterAll(() => sandbox.stop())

describe.skipIf(!hasTerminal || !isFullSize)('in a terminal', () => {
  test('a messy file with a column of its own name is enriched by three commands', async () => {
    const user = await newUser('a messy CSV')
    const slugs = Array.from({ length: 30 }, (_, index) => `walk-${index % 24}`)
    const isBlank = (at: number) => at === 7
    const rows = slugs.map((slug, at) =>
      [`A-${at}`, `Müller ${at}`, isBlank(at) ? 'n/a' : `https://de.profnet.com/company/${slug}/`].join(';'),
    )
    const file = ['Nr;Firma (alt);Firmenseite dort', ...rows, 'A-99;zu wenig'].join('\r\n')
    await writeFile(join(user.cwd, 'export.csv'), `\ufeff${file}`)

    const made = await user.type(`paydirt init --yes ${atSandbox()}`, { env: settings() })
    await sandbox.fund(walletIn(made), 1_000_000n)
    // The refusal names what to add.
    const command = 'paydirt csv export.csv --object company --out enriched.csv'
    const refused = await user.type(command, { status: 2 })
    const map = /add (--map .*)$/m.exec(refused.text)?.[1]
    expect(map).toBe("--map 'profile=Firmenseite dort'")
    const run = await user.type(`${command} ${map}`)
    expect(run.text).toContain('spent: 0.230000 USD')

    const enriched: Record<string, string>[] = parse(readFileSync(join(user.cwd, 'enriched.csv')), {
      columns: true,
      bom: true,
      delimiter: ';',
      relax_column_count: true,
    })
    expect(enriched.slice(0, 30).map((row) => row['company_name'])).toEqual(
      slugs.map((slug, at) =>
        isBlank(at)
          ? ''
          : (companyAnswer(`https://www.profnet.com/company/${slug}`).data?.company_name ?? ''),
      ),
    )
    expect(enriched[0]).toMatchObject({ Nr: 'A-0', 'Firma (alt)': 'Müller 0' })
    expect(user.ended()).toBeLessThanOrEqual(3)
  })

  test('a CRM is set up, planned, synced and undone by five', async () => {
    const user = await newUser('a CRM')
    const hubspot = await startHubspotStandIn({ seed: testSeed(), companies: 6, contacts: 0 })
    onTestFinished(() => hubspot.stop())
    const made = await user.type(`paydirt init --yes --crm hubspot ${atSandbox()}`, {
      env: { ...settings(), HUBSPOT_ACCESS_TOKEN: hubspot.token, HUBSPOT_BASE_URL: hubspot.baseUrl },
    })
    await sandbox.fund(walletIn(made), 1_000_000n)
    const values = () => [...hubspot.store.list('companies')].map(({ properties }) => valuesIn(properties))
    const before = values()

    const plan = await user.type('paydirt sync hubspot --object company --plan')
    expect(plan.text).toContain('Nothing was paid.')
    expect(values()).toEqual(before)
    const sync = await user.type('paydirt sync hubspot --object company')
    const runId = /^run (\w+): /m.exec(sync.text)?.[1] as string
    expect(values()).not.toEqual(before)
    const undo = await user.type(`paydirt undo ${runId} --plan`)
    expect(undo.text).toContain(runId)
    expect(values()).not.toEqual(before)
    await user.type(`paydirt undo ${runId}`)
    expect(values()).toEqual(before)
    expect(user.ended()).toBe(5)
  })
})

/** A folder, and a way to type commands in it that counts them. */
async function newUser(name: string) {
  const cwd = await mkdtemp(join(tmpdir(), 'paydirt-walk-'))
  onTestFinished(() => rm(cwd, { recursive: true, force: true }))
  const typed: Shown[] = []
  return {
    cwd,
    async type(
      line: string,
      { env = {}, status = 0 }: { env?: Record<string, string>; status?: number } = {},
    ): Promise<Shown> {
      const shown = await inTerminal(wordsOf(line).slice(1), { cwd, env })
      typed.push(shown)
      if (shown.status !== status) throw new Error(`${line}: ${shown.text}`)
      return shown
    },
    /** Prints the walk's times and returns the number of its commands. */
    ended(): number {
      const seconds = typed.reduce((sum, { ms }) => sum + ms, 0) / 1000
      const first = typed.map(({ firstMs }) => Math.round(firstMs)).join(', ')
      console.log(
        `${name}: ${typed.length} commands, ${seconds.toFixed(1)} s (first output after ${first} ms)`,
      )
      return typed.length
    },
  }
}

const atSandbox = () => `--service-url ${sandbox.serviceUrl} --rpc-url ${sandbox.rpcUrl}`
const settings = () => ({ PAYDIRT_LOGO_URL: sandbox.logoUrl })

/** Returns the address that `init` shows and asks to fund. */
function walletIn({ text }: Shown): `0x${string}` {
  return /wallet (0x[0-9a-fA-F]{40})/.exec(text)?.[1] as `0x${string}`
}

/** Returns the values of a record, without its times and stamps. */
function valuesIn(properties: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(
    Object.entries(properties).filter(
      ([name, value]) => !/^paydirt_|date/.test(name) && value !== '' && value !== null,
    ),
  )
}
