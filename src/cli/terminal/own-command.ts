import { existsSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join, relative, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../../..')
const bin = join(root, 'bin/paydirt.mjs')

/**
 * Returns how this program is called from a folder: `paydirt` where a shell finds this copy by its name (an image, a global
 * installation), `npx paydirt` in the checkout or a project that has it installed. Elsewhere npx would look for a package of
 * this name, so the path is named.
 */
export function ownCommand(folder: string, searchPath = process.env['PATH'] ?? ''): string {
  if (isOnPath(searchPath)) return 'paydirt'
  const isInside = !relative(root, folder).startsWith('..')
  if (isInside || isInstalledAbove(folder)) return 'npx paydirt'
  return `node ${/^[\w./@+-]+$/.test(bin) ? bin : JSON.stringify(bin)}`
}

/** npm and this program put folders of packages on the path of their children only: the shell does not have them. */
function isOnPath(searchPath: string): boolean {
  return searchPath
    .split(delimiter)
    .some((place) => !/node_modules[\\/]\.bin[\\/]?$/.test(place) && isThis(join(place, 'paydirt')))
}

function isInstalledAbove(folder: string): boolean {
  if (isThis(join(folder, 'node_modules/.bin/paydirt'))) return true
  const above = dirname(folder)
  return above !== folder && isInstalledAbove(above)
}

function isThis(path: string): boolean {
  try {
    return existsSync(path) && realpathSync(path) === realpathSync(bin)
  } catch {
    return false
  }
}

/** Returns a text for a person in which each command that is named is called as it works here. JSON is left alone. */
export function inOwnWords(text: string, own: string): string {
  if (own === 'paydirt' || /^[[{]/.test(text)) return text
  return text.replaceAll(/(`|^ {2,})paydirt (?=(?:--)?[a-zA-Z])/gm, (_, before: string) => `${before}${own} `)
}
