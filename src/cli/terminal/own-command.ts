import { join, relative, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../../..')

/**
 * Returns how this program is called from a folder: `npx paydirt` in the checkout. Elsewhere npx would look for a package of
 * this name, so the path is named.
 */
export function ownCommand(folder: string): string {
  const isInside = !relative(root, folder).startsWith('..')
  if (isInside) return 'npx paydirt'
  const bin = join(root, 'bin/paydirt.mjs')
  return `node ${/^[\w./@+-]+$/.test(bin) ? bin : JSON.stringify(bin)}`
}
