/** Row locks of active writes. A contact also locks its account, as in a real org. */
export interface RowLocks {
  /** Locks all keys for the owner, or none when another owner holds one of them. */
  tryHold(owner: symbol, keys: readonly string[]): boolean
  release(owner: symbol): void
}

export function createRowLocks(): RowLocks {
  const holders = new Map<string, symbol>()
  return {
    tryHold(owner, keys) {
      if (keys.some((key) => (holders.get(key) ?? owner) !== owner)) return false
      for (const key of keys) holders.set(key, owner)
      return true
    },
    release(owner) {
      for (const [key, holder] of holders) if (holder === owner) holders.delete(key)
    },
  }
}
