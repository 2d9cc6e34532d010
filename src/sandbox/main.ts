// Runs the sandbox as a process of its own. It prints one line of JSON with its addresses when it is ready. It stops on
// SIGTERM, SIGINT, when its parent disconnects or when its standard input ends. Options come as one JSON argument.
import { crmStateFile, startCrm, type StandInName } from './stand-ins.ts'
import { startSandbox, type SandboxOptions } from './sandbox.ts'

const {
  crm: kind,
  known,
  ...options
} = JSON.parse(process.argv[2] ?? '{}') as SandboxOptions & {
  crm?: StandInName
  known?: number
}
const starting = Promise.all([
  startSandbox(options),
  kind === undefined
    ? undefined
    : startCrm(kind, { known, stateFile: crmStateFile(kind, options.stateFile) }),
])
let stopping: Promise<void> | undefined

// Registered before the line that says it is ready: the reader of that line may stop the process immediately.
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop)
process.on('disconnect', stop)
process.stdin.on('end', stop).on('error', stop).resume()

const [{ serviceUrl, logoUrl, rpcUrl, payTo, asset, chainId }, crm] = await starting
const ready = {
  serviceUrl,
  logoUrl,
  rpcUrl,
  payTo,
  asset,
  chainId,
  crm: crm?.environment,
  crmPageUrl: crm?.pageUrl,
  pid: process.pid,
}
process.stdout.write(`${JSON.stringify(ready)}\n`)
process.send?.(ready)

function stop() {
  stopping ??= starting
    .then(([sandbox, standIn]) => Promise.all([sandbox.stop(), standIn?.stop()]))
    .then(() => process.exit(0))
}
