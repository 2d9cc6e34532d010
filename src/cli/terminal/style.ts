import { randomBytes } from 'node:crypto'
import { styleText } from 'node:util'

// A text is marked where it is made, and the marks become colours or nothing where it is printed, because only there is it
// known what it is printed on. The key is drawn anew in each process: text from outside cannot contain a mark.
const key = randomBytes(8).toString('hex')
const [opening, between, closing] = [`\ufdd0${key}`, `\ufdd1${key}`, `\ufdd2${key}`]

const formats = {
  b: 'bold',
  d: 'dim',
  g: 'green',
  r: 'red',
  y: 'yellow',
} as const

export const bold = (text: string) => mark('b', text)
export const dim = (text: string) => mark('d', text)
export const good = (text: string) => mark('g', text)
export const bad = (text: string) => mark('r', text)
export const warning = (text: string) => mark('y', text)

/** Returns a text that is a sign on a terminal and a word elsewhere. */
export function sign(onTerminal: string, elsewhere: string): string {
  return `${opening}s${onTerminal}${between}${elsewhere}${closing}`
}

function mark(format: keyof typeof formats, text: string): string {
  return `${opening}${format}${text}${closing}`
}

const signs = new RegExp(`${opening}s(.*?)${between}(.*?)${closing}`, 'gs')
const marks = new RegExp(`${opening}(.)(.*?)${closing}`, 'gs')

/**
 * Returns a marked text as a stream takes it: with colours and signs on a terminal, without them elsewhere. NO_COLOR and
 * FORCE_COLOR decide about colours, as Node understands them.
 */
export function painted(text: string, stream: NodeJS.WriteStream): string {
  if (!text.includes(opening)) return text
  const showsSigns = stream.isTTY === true && !['dumb', 'linux'].includes(process.env['TERM'] ?? '')
  return text
    .replaceAll(signs, (_, onTerminal: string, elsewhere: string) => (showsSigns ? onTerminal : elsewhere))
    .replaceAll(marks, (_, format: keyof typeof formats, inner: string) =>
      styleText(formats[format], inner, { stream }),
    )
}
