import { createInterface } from 'node:readline'
import { ConfigError } from '../../domain/errors.ts'
import { hashPassword } from '../../http/desk/access/password.ts'
import { print } from '../terminal/print.ts'

const leastCharacters = 12

export async function password(): Promise<void> {
  const password = await readPassword()
  if ([...password].length < leastCharacters) {
    throw new ConfigError('short_password', `a password needs at least ${leastCharacters} characters`)
  }
  print(`${await hashPassword(password)}\n`)
}

/** Reads one line. A terminal does not show it while it is typed. */
async function readPassword(): Promise<string> {
  const { stdin, stderr } = process
  if (stdin.isTTY) stderr.write('password (not shown): ')
  const lines = createInterface({ input: stdin, terminal: stdin.isTTY ?? false })
  try {
    for await (const line of lines) return line
    return ''
  } finally {
    lines.close()
    if (stdin.isTTY) stderr.write('\n')
  }
}
