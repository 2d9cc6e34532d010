import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { anvilBinary } from './anvil-binary.ts'

export const CHAIN_ID = 8453

// One block for every transaction and one every second, so that block time moves while no one pays and an authorization
// can expire. One slot per epoch lets `finalized` follow two blocks behind. Gas is free.
const ARGUMENTS = [
  '--accounts',
  '32',
  ['--chain-id', String(CHAIN_ID)],
  ['--block-time', '1'],
  ['--mixed-mining'],
  ['--slots-in-an-epoch', '1'],
  ['--gas-price', '0'],
  ['--block-base-fee-per-gas', '0'],
  ['--color', 'never'],
].flat()

export interface Anvil {
  rpcUrl: string
  stop(): Promise<void>
}

export interface AnvilOptions {
  /** Port on the loopback. 0, the default, takes a free one. */
  rpcPort?: number
  /** A file that keeps the chain from one start to the next. It is written when the chain is stopped. */
  stateFile?: string | undefined
}

/** Starts anvil on the loopback. Anvil ends with this process, however this process ends. */
export async function startAnvil({ rpcPort = 0, stateFile }: AnvilOptions = {}): Promise<Anvil> {
  const options = ['--port', String(rpcPort), ...(stateFile === undefined ? [] : ['--state', stateFile])]
  const keeper = spawn(
    process.execPath,
    [
      fileURLToPath(new URL('anvil-keeper.ts', import.meta.url)),
      await anvilBinary(),
      ...ARGUMENTS,
      ...options,
    ],
    // A process group of its own: Ctrl-C in a terminal must reach the sandbox, which settles open payments, and not
    // anvil.
    { stdio: ['pipe', 'pipe', 'pipe'], detached: true, env: keeperEnvironment() },
  )
  keeper.stdin.on('error', () => {})
  const exited = new Promise<void>((resolve) => keeper.once('close', () => resolve()))

  let complaint = ''
  keeper.stderr
    .setEncoding('utf8')
    .on('data', (text: string) => (complaint = (complaint + text).slice(-2000)))

  const address = await new Promise<string>((resolve, reject) => {
    let printed = ''
    keeper.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text
      if (printed.includes('\n')) resolve(printed.trim())
    })
    keeper.once('error', reject)
    keeper.once('close', (code) => reject(new Error(`anvil ended with status ${code}: ${complaint.trim()}`)))
  })

  return {
    rpcUrl: `http://${address}`,
    async stop() {
      keeper.stdin.end()
      await exited
    },
  }
}

function keeperEnvironment() {
  const { PATH, HOME, TMPDIR } = process.env
  return { PATH, HOME, TMPDIR, NO_COLOR: '1' }
}
