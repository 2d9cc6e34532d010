import { once } from 'node:events'
import { createServer } from 'node:net'
import { Command } from 'commander'
import { ConfigError } from '../../domain/errors.ts'
import { helpEnd } from '../terminal/help-end.ts'
import { print } from '../terminal/print.ts'

export function sandboxCommand(): Command {
  return new Command('sandbox')
    .description('Run a stand-in of the data service on this machine, with synthetic data and a local chain.')
    .option('--port <n>', 'port of the service (0: a free one)', '8402')
    .option('--rpc-port <n>', 'port of the chain (0: a free one)', '8545')
    .option('--state <file>', 'keep the chain in this file between starts')
    .addHelpText(
      'after',
      helpEnd({
        examples: ['paydirt sandbox', 'paydirt sandbox --port 0 --rpc-port 0 --state chain.json'],
        statuses: { 0: 'stopped by Ctrl-C or SIGTERM', 130: 'stopped before it had started' },
      }),
    )
    .action(async (options: { port: string; rpcPort: string; state?: string }) => {
      // The stand-in's servers are large; no other command needs them.
      const { startSandbox } = await import('../../sandbox/sandbox.ts')
      const ports = { service: port(options.port), chain: port(options.rpcPort) }
      await assertFree(ports.service, '--port')
      await assertFree(ports.chain, '--rpc-port')
      const sandbox = await startSandbox({
        port: ports.service,
        rpcPort: ports.chain,
        // Answers are stored by payment id, so that one lost in a crash between payment and answer can be asked for again.
        faults: { paymentIdentifier: true },
        stateFile: options.state,
      })
      print(`PAYDIRT_SERVICE_URL=${sandbox.serviceUrl}
PAYDIRT_LOGO_URL=${sandbox.logoUrl}
PAYDIRT_RPC_URL=${sandbox.rpcUrl}
# fund a wallet:  curl -X POST ${sandbox.serviceUrl}/_sandbox/fund -H 'content-type: application/json' -d '{"address":"0x...","amountAtomic":"1000000"}'
# switch faults:  curl ${sandbox.serviceUrl}/_sandbox/faults
`)
      await new Promise<void>((resolve) => {
        process.once('SIGINT', resolve)
        process.once('SIGTERM', resolve)
      })
      await sandbox.stop()
    })
}

/** Throws ConfigError naming the port that another process has. */
async function assertFree(wanted: number, option: string): Promise<void> {
  if (wanted === 0) return
  const probe = createServer()
  probe.listen(wanted, '127.0.0.1')
  try {
    await once(probe, 'listening')
  } catch (error) {
    const reason = (error as NodeJS.ErrnoException).code
    throw new ConfigError(
      'port_taken',
      reason === 'EADDRINUSE'
        ? `port ${wanted} is taken by another process; name a free one with ${option} (0: any)`
        : `cannot listen on port ${wanted} (${reason}); name another one with ${option} (0: any)`,
      { cause: error },
    )
  }
  probe.close()
  await once(probe, 'close')
}

function port(text: string): number {
  const number = Number(text)
  if (!Number.isInteger(number) || number < 0 || number > 65_535)
    throw new ConfigError('bad_port', `${text} is not a port`)
  return number
}
