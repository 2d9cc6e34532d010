import { createHmac, timingSafeEqual } from 'node:crypto'

/** The public ids of tasks: they cannot be guessed, reveal no count, and need no storage. */
export interface TaskIds {
  nameOf(id: bigint): string
  /** Undefined when it is not the public id of a task of this ledger. */
  idOf(name: string): bigint | undefined
}

export function createTaskIds(ledgerId: string): TaskIds {
  function seal(number: string): string {
    return createHmac('sha256', ledgerId).update(`task|${number}`).digest('base64url').slice(0, 16)
  }

  return {
    nameOf(id) {
      const number = id.toString(36)
      return `t${number}_${seal(number)}`
    },
    idOf(name) {
      const match = /^t([0-9a-z]{1,12})_([\w-]{16})$/.exec(name)
      if (!match) return undefined
      const [, number = '', given = ''] = match
      if (!timingSafeEqual(Buffer.from(seal(number)), Buffer.from(given))) return undefined
      return [...number].reduce((sum, digit) => sum * 36n + BigInt(parseInt(digit, 36)), 0n)
    },
  }
}
