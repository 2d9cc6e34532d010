import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { missingServers } from '../faults/servers.ts'

const root = join(import.meta.dirname, '../..')
/** Leaves a process behind that keeps a connection to Postgres, and prints its id once it has one. */
const leaveBehind = `
  const client = \`const { Client } = require('pg')
    const client = new Client({ connectionString: process.env.DATABASE_URL })
    client.on('error', () => process.exit())
    client.connect().then(() => console.log(process.pid))\`
  const child = require('node:child_process').spawn(process.execPath, ['-e', client], {
    detached: true, stdio: ['ignore', 'pipe', 'ignore'],
  })
  child.stdout.once('data', (id) => { process.stdout.write(id); process.exit() })
`

test.skipIf(missingServers() !== undefined)(
  'the servers stop with their command, also when a process that it left behind is connected',
  async () => {
    const script = spawn(join(root, 'scripts/with-services.sh'), [process.execPath, '-e', leaveBehind], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const [printed, [status]] = await Promise.all([text(script.stdout), once(script, 'close')])
    expect([status, Number(printed) > 0]).toEqual([0, true])
  },
)
