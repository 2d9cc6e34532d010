import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { sandboxCommand } from './sandbox-command.ts'

test.each(['--port', '--rpc-port', '--crm-port'])(
  'a sandbox whose %s is taken says which port',
  async (option) => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    onTestFinished(() => void other.close())
    const { port } = other.address() as AddressInfo
    const args = ['--port', '0', '--rpc-port', '0', '--crm', 'hubspot', option, String(port)]
    await expect(sandboxCommand().parseAsync(args, { from: 'user' })).rejects.toThrow(
      `port ${port} is taken by another process; name a free one with ${option} (0: any)`,
    )
  },
)
